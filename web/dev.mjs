// Serves the page from the sources, and everything else from a running server.
//
//     node dev.mjs [SERVER] [PORT]
//
// SERVER is the address of a Phyllo server, http://127.0.0.1:8080 by default. The page is built again when it is loaded
// after a change of a source. A mistake in a source is shown in place of the page.

import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';

const [server = 'http://127.0.0.1:8080', port = '8090'] = process.argv.slice(2);
const { hostname, port: serverPort } = new URL(server);
const SOURCES = ['build.mjs', 'index.html', 'src'];
const TYPES = { css: 'text/css', html: 'text/html', js: 'text/javascript', svg: 'image/svg+xml', txt: 'text/plain' };

const BUILT = path.join('dist', 'index.html.gz');

/** Builds `dist/` if a source is newer. Returns what went wrong. */
function build() {
  const newest = Math.max(...SOURCES.flatMap(filesOf).map((file) => statSync(file).mtimeMs));
  if (existsSync(BUILT) && newest <= statSync(BUILT).mtimeMs) return '';
  const { status, stderr } = spawnSync('node', ['build.mjs'], { encoding: 'utf8' });
  return status === 0 ? '' : stderr;
}

function filesOf(source) {
  if (!statSync(source).isDirectory()) return [source];
  return readdirSync(source, { recursive: true }).map((file) => path.join(source, file));
}

/** The target of a request to the server, whose origin must be that of the page for WebSockets. */
function forwarded({ url, method, headers }) {
  const own = { ...headers, host: `${hostname}:${serverPort}`, ...(headers.origin && { origin: server }) };
  return { hostname, port: serverPort, path: url, method, headers: own };
}

/** What the page may load, as the server says. */
const policy = await fetch(server).then(({ headers }) => headers.get('content-security-policy') ?? '');

const proxy = http.createServer((request, response) => {
  const { pathname } = new URL(request.url, server);
  const asset = /^\/assets\/([\w.-]+)$/.exec(pathname)?.[1];
  const name = pathname === '/' ? 'index.html' : asset;
  if (name === undefined) {
    const target = http.request(forwarded(request), (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    target.on('error', () => response.destroy());
    request.pipe(target);
    return;
  }
  const mistake = asset ? '' : build();
  const file = path.join('dist', `${name}.gz`);
  if (mistake !== '' || !existsSync(file)) {
    response.writeHead(mistake === '' ? 404 : 500, { 'content-type': 'text/plain' }).end(mistake);
    return;
  }
  const type = TYPES[name.split('.').at(-1)] ?? 'application/octet-stream';
  response.writeHead(200, {
    'content-type': type,
    'content-encoding': 'gzip',
    'cache-control': 'no-store',
    ...(!asset && { 'content-security-policy': policy }),
  });
  response.end(readFileSync(file));
});

proxy.on('upgrade', (request, near, head) => {
  const target = http.request(forwarded(request));
  target.on('upgrade', ({ headers }, far) => {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    near.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('')}\r\n`);
    far.write(head);
    near.pipe(far).pipe(near);
    for (const [one, other] of [[near, far], [far, near]]) one.on('error', () => other.destroy()).on('close', () => other.destroy());
  });
  target.on('response', () => near.destroy());
  target.on('error', () => near.destroy());
  target.end();
});

proxy.listen(Number(port), '127.0.0.1', () => console.log(`The page is at http://127.0.0.1:${port}/, its server at ${server}.`));
