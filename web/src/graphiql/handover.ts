// A query that another view hands to the editor, which may not be loaded yet.
import { useSyncExternalStore } from 'react';
import { hrefOf } from '../route';

export interface Handover {
  query: string;
  /** JSON text. */
  variables?: string;
}

let waiting: Handover | undefined;
const listeners = new Set<() => void>();

export function openInGraphiql(handover: Handover): void {
  waiting = handover;
  location.hash = hrefOf('graphiql');
  listeners.forEach((listener) => listener());
}

/** What waits for the editor. */
export const useHandover = (): Handover | undefined => useSyncExternalStore(subscribe, () => waiting);

export function takeHandover(): void {
  waiting = undefined;
  listeners.forEach((listener) => listener());
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
