import { useEffect, useRef, useState } from 'react';
import { follow, type Change, type LiveState } from '../api/changes';

/** Changes that arrive within this time are passed on together. */
const TOGETHER_MS = 100;

interface Handlers {
  onChanges: (changes: Change[]) => void;
  /** What is shown must be read again as a whole. */
  onExpired: () => void;
}

/**
 * Follows a collection, or a document of it, from the cursor of the query that read what is shown:
 * undefined until there is one, null if the change log is off.
 */
export function useLive(
  { collection, id = null }: { collection: string; id?: string | null },
  cursor: string | null | undefined,
  handlers: Handlers,
): LiveState {
  const [state, setState] = useState<LiveState>('connecting');
  const latest = useRef(handlers);
  latest.current = handlers;
  useEffect(() => {
    if (cursor === undefined) return;
    if (cursor === null) return setState('off');
    let waiting: Change[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const flush = () => {
      timer = undefined;
      latest.current.onChanges(waiting);
      waiting = [];
    };
    const stop = follow({
      collection,
      id,
      after: cursor,
      onChange(change) {
        waiting.push(change);
        timer ??= setTimeout(flush, TOGETHER_MS);
      },
      onState(state) {
        setState(state);
        if (state === 'expired') latest.current.onExpired();
      },
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [collection, id, cursor]);
  return state;
}
