// A stand-in for an identity provider: it signs a token for whoever asks, and publishes its keys. Only for
// development, because it asks for no password.
//
//     node provider.mjs [PORT]

import { generateKeyPairSync, sign } from 'node:crypto';
import { createServer } from 'node:http';

const port = Number(process.argv[2] ?? 8090);
const LIFETIME_S = Number(process.env.LIFETIME_S ?? 300);
const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const KID = 'example-1';

const base64url = (value) => Buffer.from(value).toString('base64url');

function tokenFor(name) {
  const now = Math.floor(Date.now() / 1000);
  const header = { alg: 'ES256', typ: 'JWT', kid: KID };
  const claims = { iss: `http://127.0.0.1:${port}`, aud: 'reviews', sub: name, iat: now, exp: now + LIFETIME_S };
  const signed = `${base64url(JSON.stringify(header))}.${base64url(JSON.stringify(claims))}`;
  const signature = sign('sha256', Buffer.from(signed), { key: privateKey, dsaEncoding: 'ieee-p1363' });
  return `${signed}.${signature.toString('base64url')}`;
}

async function answer({ method, url }, body) {
  if (method === 'GET' && url === '/keys') {
    return { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: KID, use: 'sig', alg: 'ES256' }] };
  }
  if (method === 'POST' && url === '/sign-in') {
    return { token: tokenFor(JSON.parse(body).name) };
  }
  return undefined;
}

createServer(async (request, response) => {
  let body = '';
  for await (const part of request) body += part;
  const answered = await answer(request, body).catch(() => undefined);
  response.writeHead(answered ? 200 : 404, {
    'content-type': 'application/json',
    'access-control-allow-origin': '*',
  });
  response.end(JSON.stringify(answered ?? { error: 'not found' }));
}).listen(port, '127.0.0.1', () => console.log(`http://127.0.0.1:${port}`));
