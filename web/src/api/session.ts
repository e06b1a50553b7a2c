// The token of the whole page, and what the server said about it. The token is kept until the browser
// tab closes.
import { useSyncExternalStore } from 'react';

const KEY = 'phyllo:token';
const listeners = new Set<() => void>();

/** `required`: the server has rejected a request without a valid token. */
export type Access = 'open' | 'required' | 'read-only';
let access: Access = 'open';

export const token = (): string => sessionStorage.getItem(KEY) ?? '';
export const useToken = (): string => useSyncExternalStore(subscribe, token);
export const useAccess = (): Access => useSyncExternalStore(subscribe, () => access);

export function setToken(token: string): void {
  if (token === '') sessionStorage.removeItem(KEY);
  else sessionStorage.setItem(KEY, token);
  access = 'open';
  notify();
}

/**
 * Notes what a code of an error (docs/errors.md) says about the token. `FORBIDDEN` at a field is about the
 * places that the field uses, and says nothing about others.
 */
export function reportRefusal(code: string, atField: boolean): void {
  const readOnly = code === 'FORBIDDEN' && !atField;
  const said = code === 'UNAUTHENTICATED' ? 'required' : readOnly ? 'read-only' : access;
  if (said === access) return;
  access = said;
  notify();
}

/** `headers` with the token, unless they have an authorization of their own. */
export function withToken(headers: Record<string, string> = {}): Record<string, string> {
  const own = Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');
  return own || token() === '' ? headers : { ...headers, authorization: `Bearer ${token()}` };
}

function notify(): void {
  listeners.forEach((listener) => listener());
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
