// The token of the whole page. It is kept until the browser tab closes.
import { useSyncExternalStore } from 'react';

const KEY = 'phyllo:token';
const listeners = new Set<() => void>();

export const token = (): string => sessionStorage.getItem(KEY) ?? '';

export function setToken(token: string): void {
  sessionStorage.setItem(KEY, token);
  listeners.forEach((listener) => listener());
}

export const useToken = (): string => useSyncExternalStore(subscribe, token);

/** `headers` with the token, unless they have an authorization of their own. */
export function withToken(headers: Record<string, string> = {}): Record<string, string> {
  const own = Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');
  return own || token() === '' ? headers : { ...headers, authorization: `Bearer ${token()}` };
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
