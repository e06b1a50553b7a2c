import { useEffect } from 'react';

/** Work on 100,000 documents can end within a second, and is to be seen. */
const PROGRESS_MS = 300;

/** Reads again and again how far some work is, until it has ended. */
export function useProgress(working: boolean, read: () => void): void {
  useEffect(() => {
    if (!working) return;
    const timer = setInterval(read, PROGRESS_MS);
    return () => clearInterval(timer);
  }, [working, read]);
}
