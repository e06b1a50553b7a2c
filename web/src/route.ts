// The address after `#/`: `c/COLLECTION/KEY`, both percent-encoded, or `graphiql`.
import { useMemo, useSyncExternalStore } from 'react';

export type Route = readonly string[];

export const hrefOf = (...parts: string[]) => `#/${parts.map(encodeURIComponent).join('/')}`;

export function useRoute(): Route {
  const hash = useSyncExternalStore(subscribe, () => location.hash);
  return useMemo(() => partsOf(hash), [hash]);
}

export function partsOf(hash: string): Route {
  const text = hash.replace(/^#\/?/, '');
  try {
    return text === '' ? [] : text.split('/').map(decodeURIComponent);
  } catch {
    return [];
  }
}

function subscribe(listener: () => void): () => void {
  addEventListener('hashchange', listener);
  return () => removeEventListener('hashchange', listener);
}
