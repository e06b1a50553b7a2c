// Tells the views that the type of a collection has changed, and the schema of the server with it.
import { useSyncExternalStore } from 'react';

let changes = 0;
const listeners = new Set<() => void>();

export function noteTypeChange(): void {
  changes += 1;
  listeners.forEach((listener) => listener());
}

/** The number of changes since the page was loaded. */
export const useTypeChanges = (): number => useSyncExternalStore(subscribe, () => changes);

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
