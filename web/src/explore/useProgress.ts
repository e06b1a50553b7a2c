import { useEffect } from 'react';

/** Work on 100,000 documents can end within a second, and is to be seen. */
const PROGRESS_MS = 300;
/** The next attempt if a read fails. */
const RETRY_MS = 5_000;

/**
 * Reads again and again how far some work is, until it has ended. The next read begins after `shown`, the result of the
 * last one, has arrived: an earlier one would abort it.
 */
export function useProgress(working: boolean, shown: unknown, read: () => void): void {
  useEffect(() => {
    if (!working) return;
    const next = setTimeout(read, PROGRESS_MS);
    const retry = setInterval(read, RETRY_MS);
    return () => {
      clearTimeout(next);
      clearInterval(retry);
    };
  }, [working, shown, read]);
}
