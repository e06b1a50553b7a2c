// Tokens of users, as an identity provider signs them.

import { createHmac } from 'node:crypto';

const LIFETIME_S = 3_600;

const base64url = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A token that is signed with a secret, in base64url, of the server's key set. */
export function tokenOf(secret, claims) {
  const now = Math.floor(Date.now() / 1_000);
  const all = { iss: 'https://login.example', aud: 'phyllo', iat: now, exp: now + LIFETIME_S, ...claims };
  const signed = `${base64url({ alg: 'HS256', typ: 'JWT' })}.${base64url(all)}`;
  const signature = createHmac('sha256', Buffer.from(secret, 'base64url')).update(signed).digest('base64url');
  return `${signed}.${signature}`;
}
