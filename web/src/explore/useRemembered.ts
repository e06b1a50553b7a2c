import { useCallback, useState } from 'react';

const remembered = new Map<string, unknown>();

/** State that a view has again when it is opened again, until the page is loaded again. */
export function useRemembered<T>(key: string, initial: T): readonly [T, (value: T) => void] {
  const [value, setValue] = useState(() => (remembered.has(key) ? (remembered.get(key) as T) : initial));
  const set = useCallback((next: T) => {
    remembered.set(key, next);
    setValue(next);
  }, [key]);
  return [value, set];
}
