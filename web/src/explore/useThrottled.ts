import { useCallback, useEffect, useRef } from 'react';

/** Calls `body` at once, and at most once within `milliseconds`; calls in between are one call at the end. */
export function useThrottled(body: () => void, milliseconds: number): () => void {
  const latest = useRef(body);
  latest.current = body;
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const waiting = useRef(false);
  useEffect(() => () => clearTimeout(timer.current), []);
  return useCallback(() => {
    const run = () => {
      waiting.current = false;
      latest.current();
      timer.current = setTimeout(() => {
        timer.current = undefined;
        if (waiting.current) run();
      }, milliseconds);
    };
    if (timer.current === undefined) run();
    else waiting.current = true;
  }, [milliseconds]);
}
