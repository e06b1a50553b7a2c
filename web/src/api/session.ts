// The token of the whole page, and what the server said about it. The token is kept until the browser
// tab closes.
import { useSyncExternalStore } from 'react';

const KEY = 'phyllo:token';
const listeners = new Set<() => void>();

/** `unknown`: `learnAccess` has no answer. `required`: the server has rejected a request without a valid token. */
export type Access = 'unknown' | 'open' | 'required' | 'read-only';
let access: Access = 'unknown';

export const token = (): string => sessionStorage.getItem(KEY) ?? '';
export const useToken = (): string => useSyncExternalStore(subscribe, token);
export const useAccess = (): Access => useSyncExternalStore(subscribe, () => access);

/** Whether the token allows changes; undefined until that is known. Access rules can still forbid some of them. */
export function useEditable(): boolean | undefined {
  const access = useAccess();
  return access === 'open' ? true : access === 'read-only' ? false : undefined;
}

export function setToken(token: string): void {
  if (token === '') sessionStorage.removeItem(KEY);
  else sessionStorage.setItem(KEY, token);
  note('unknown');
  notify();
}

/**
 * Notes what a code of an error (docs/errors.md) says about the token. `FORBIDDEN` at a field is about the
 * places that the field uses, and says nothing about others.
 */
export function reportRefusal(code: string, atField: boolean): void {
  const readOnly = code === 'FORBIDDEN' && !atField;
  if (code === 'UNAUTHENTICATED') note('required');
  else if (readOnly) note('read-only');
}

/** Notes that nothing is known against changes. */
export function reportOpen(): void {
  if (access === 'unknown') note('open');
}

function note(said: Access): void {
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
