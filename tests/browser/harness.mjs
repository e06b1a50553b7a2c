// What the tests of the page share: the browser, its page, the checks, and another client of the server.

import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { chromium } from 'playwright-core';

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
const WAIT_MS = Number(process.env.WAIT_MS ?? 30_000);
const SLOWER = Number(process.env.SLOWER ?? 1);
/** A script that takes longer fails, whatever it waits for. */
const SCRIPT_MS = Number(process.env.SCRIPT_MS ?? 1_200_000);

/** Opens the browser. Screenshots are written to the folder `artifacts`. */
export async function start(base, artifacts) {
  await mkdir(artifacts, { recursive: true });
  const profile = await mkdtemp(path.join(tmpdir(), 'phyllo-browser-'));
  const browser = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    headless: true,
    args: FLAGS,
    viewport: { width: 1280, height: 800 },
  });
  const page = browser.pages()[0] ?? (await browser.newPage());
  page.setDefaultTimeout(WAIT_MS);
  await slowDown(page);
  setTimeout(() => {
    console.log(`FAIL the tests took longer than ${SCRIPT_MS / 1_000} s`);
    process.exit(1);
  }, SCRIPT_MS).unref();
  const counts = { passed: 0, failed: 0 };
  const screenshot = (name) => page.screenshot({ path: path.join(artifacts, `${name}.png`) });

  async function check(sentence, body) {
    try {
      await body();
      counts.passed += 1;
      console.log(`PASS ${sentence}`);
    } catch (error) {
      counts.failed += 1;
      console.log(`FAIL ${sentence}\n     ${String(error.message).replaceAll('\n', '\n     ')}`);
      await screenshot(`failed-${counts.failed}`).catch(() => {});
    }
  }

  async function end() {
    await browser.close();
    await rm(profile, { recursive: true, force: true });
    console.log(`${counts.passed} passed, ${counts.failed} failed`);
    process.exitCode = counts.failed === 0 ? 0 : 1;
  }

  return { base, browser, page, check, screenshot, end, ...watch(browser, page), client: clientOf(base) };
}

/** With SLOWER=n the page has a processor n times as slow, and a network of 50 n ms: what waits too little fails. */
async function slowDown(page) {
  if (SLOWER === 1) return;
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate: SLOWER });
  await session.send('Network.enable');
  await session.send('Network.emulateNetworkConditions', { offline: false, latency: 50 * SLOWER, downloadThroughput: -1, uploadThroughput: -1 });
}

/** Records all requested hosts, including those of workers, and all errors on the console. */
function watch(browser, page) {
  const complaints = [];
  const hosts = new Set();
  browser.on('request', (request) => {
    const url = new URL(request.url());
    if (url.protocol !== 'data:') {
      hosts.add(url.host);
    }
  });
  page.on('pageerror', (error) => complaints.push(`uncaught: ${error.message}`));
  page.on('requestfailed', (request) => {
    const reason = request.failure().errorText;
    if (reason !== 'net::ERR_ABORTED') { // a worker that was still loading at the reload
      complaints.push(`${reason}: ${request.url()}`);
    }
  });
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) {
      complaints.push(`${message.type()}: ${message.text()}`);
    }
  });
  return { complaints, hosts };
}

/** Another client of the server at `base`, with its token. */
export function clientOf(base, token) {
  const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) };
  async function send(body) {
    const answer = await (await fetch(new URL('graphql', base), { method: 'POST', headers, body, signal: AbortSignal.timeout(WAIT_MS) })).json();
    assert.equal(answer.errors, undefined, JSON.stringify(answer));
    return answer.data;
  }
  return {
    query: (query, variables) => send(JSON.stringify({ query, variables })),
    change: (field) => send(JSON.stringify({ query: `mutation { ${field} }` })),
    /** Stores a document, given as JSON text. */
    store(collection, key, text) {
      const query = 'mutation Store($collection: String!, $id: ID!, $document: JSON) { replaceDocument(collection: $collection, id: $id, document: $document) { id } }';
      const variables = `{"collection": ${JSON.stringify(collection)}, "id": ${JSON.stringify(key)}, "document": ${text}}`;
      return send(`{"query": ${JSON.stringify(query)}, "variables": ${variables}}`);
    },
    /** The stored JSON text at a JSON Pointer. */
    async read(collection, key, pointer) {
      const query = 'query ($collection: String!, $id: ID!, $path: Path!) { document(collection: $collection, id: $id, path: $path) { value } }';
      const body = JSON.stringify({ query, variables: { collection, id: key, path: pointer } });
      const text = await (await fetch(new URL('graphql', base), { method: 'POST', headers, body, signal: AbortSignal.timeout(WAIT_MS) })).text();
      return /^\{"data":\{"document":(?:null|\{"value":(.*)\})\}\}$/s.exec(text)?.[1];
    },
    /** The number of subscriptions over WebSockets that the server has. */
    async openSubscriptions() {
      const text = await (await fetch(new URL('metrics', base), { signal: AbortSignal.timeout(WAIT_MS) })).text();
      return Number(/^phyllo_subscriptions\{transport="websocket"\} (\d+)$/m.exec(text)[1]);
    },
  };
}

/** The requests to the API, and the bytes of their responses, while `body` runs. */
export async function counted(page, body) {
  const sizes = [];
  const add = (response) => {
    if (new URL(response.url()).pathname.endsWith('/graphql')) {
      sizes.push(response.body().then((body) => body.length, () => 0));
    }
  };
  page.on('response', add);
  const begin = Date.now();
  await body();
  const milliseconds = Date.now() - begin;
  await page.waitForTimeout(300);
  page.off('response', add);
  const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  return { requests: sizes.length, bytes, milliseconds };
}

/** Chooses in the menu of a place, whose name can have any characters: names of roles lose spaces and a NUL. */
export async function chooseInMenu(page, label, item) {
  const buttons = page.locator('button[aria-haspopup="menu"]');
  const labels = await buttons.evaluateAll((all) => all.map((button) => button.getAttribute('aria-label')));
  assert.ok(labels.includes(label), `${label} is none of ${labels}`);
  await buttons.nth(labels.indexOf(label)).click();
  await page.getByRole('menuitem', { name: item, exact: true }).click();
}

/** Nothing is wider than the window, once the editors have followed a change of its size. */
export async function assertFits(page) {
  const wider = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  await until(async () => (await wider()) === 0);
}

/** The name of what has the focus; undefined if nothing has it. */
export function focused(page) {
  return page.evaluate(() => {
    const { activeElement } = document;
    return activeElement === document.body ? undefined : (activeElement.getAttribute('aria-label') ?? activeElement.textContent);
  });
}

export async function until(holds) {
  const end = Date.now() + WAIT_MS;
  while (!(await holds())) {
    assert.ok(Date.now() < end, 'waited too long');
    await new Promise((waited) => setTimeout(waited, 20));
  }
}
