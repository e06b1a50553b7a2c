// The address after `#/`: `c/COLLECTION/KEY/PATH`, each percent-encoded, or `graphiql`. Without a path, the whole
// document is shown; without a key, the collection.
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
