// Uses the page of a running server in headless Chromium, as a user would.
//
//     node page.mjs http://127.0.0.1:8080/ ARTIFACTS http://127.0.0.1:8081/ TOKEN
//
// The first server has the data that docs/walk.md imports, and a change log. The second one requires
// the token, and has no change log.
// Screenshots are written to the folder ARTIFACTS.
// CHROMIUM names the browser; the default is /usr/bin/chromium.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { chromium } from 'playwright-core';

const QUERIES = ['OneCountry', 'BigDocument', 'SeveralCountries', 'FindCountries', 'Collections', 'InsertNote', 'ChangeNote'];
const TABS = [...QUERIES, 'Live'];
const TYPED = `query Typed { collections { name count } document(collection: "countries", id: "FRA") { value(path: ["name", "common"]) } }`;
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
const WAIT_MS = 30_000;

const [base, artifacts, guarded, token] = process.argv.slice(2);
if (!token) {
  console.error('usage: node page.mjs BASE_URL ARTIFACTS GUARDED_URL TOKEN');
  process.exit(2);
}
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
const { complaints, hosts } = watch(page);
const counts = { passed: 0, failed: 0 };

await check('a first visit lists the collections and loads no GraphiQL', async () => {
  const sizes = [];
  const add = (response) => sizes.push(response.body().then((body) => body.length, () => 0));
  page.on('response', add);
  await page.goto(base);
  await page.getByRole('link', { name: 'countries 40' }).waitFor();
  await page.waitForLoadState('networkidle');
  page.off('response', add);
  const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  assert.ok(bytes < 1_000_000, `${bytes} bytes before compression`);
  assert.equal(await page.locator('.graphiql-container').count(), 0);
});
await check('a collection is a table, sorted by a column on request', async () => {
  await page.getByRole('link', { name: 'countries 40' }).click();
  await page.getByRole('link', { name: 'FRA', exact: true }).waitFor();
  await page.getByRole('cell', { name: '"France"', exact: true }).first().waitFor();
  const first = () => page.locator('tbody a').first().innerText();
  const before = await first();
  await page.getByRole('button', { name: 'area', exact: true }).click();
  await page.getByText('sorted without an index').waitFor();
  assert.notEqual(await first(), before);
});
for (const colorScheme of ['light', 'dark']) {
  for (const width of [390, 820, 1440]) {
    await check(`the table fits ${width} pixels, ${colorScheme}`, async () => {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 800 });
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.equal(overflow, 0);
      await screenshot(`table-${width}-${colorScheme}`);
    });
  }
}
await page.emulateMedia({ colorScheme: null });
await page.setViewportSize({ width: 1280, height: 800 });
await check('opening a level reads one page of it', async () => {
  const list = JSON.stringify(Array.from({ length: 5_000 }, (_, index) => `element ${index}`));
  const odd = `"": 1, "right\u202eleft": 2, "digits": 123456789012345678901234567890, "minus": -0.0`;
  await store('explored', 'big', `{"list": ${list}, ${odd}, "long": "${'x'.repeat(100_000)}"}`);
  await page.goto(new URL('#/', base).href);
  await page.getByRole('button', { name: 'Reload' }).click();
  await page.getByRole('link', { name: 'explored 1' }).click();
  await page.getByRole('link', { name: 'big', exact: true }).click();
  const opener = page.getByRole('button', { name: /^list/ });
  await opener.waitFor();
  await page.waitForLoadState('networkidle');
  const asked = [];
  const add = (request) => asked.push(request.postData());
  page.on('request', add);
  await opener.focus();
  await page.keyboard.press('Enter');
  await page.getByText('"element 99"', { exact: true }).waitFor();
  assert.equal(await page.getByText('"element 100"', { exact: true }).count(), 0);
  assert.equal(asked.length, 2); // the children, and their values
  await page.getByRole('button', { name: 'Show 100 more' }).click();
  await page.getByText('"element 199"', { exact: true }).waitFor();
  assert.equal(asked.length, 4);
  page.off('request', add);
});
await check('numbers keep their digits and their sign', async () => {
  await page.getByText('123456789012345678901234567890', { exact: true }).waitFor();
  await page.getByText('-0.0', { exact: true }).waitFor();
});
await check('a long string is read when it is asked for', async () => {
  const place = page.locator('.leaf', { hasText: 'string of 100,000 characters' });
  await place.getByRole('button', { name: 'Show' }).click();
  await page.locator('code.string', { hasText: 'xxxxxxxxxx' }).waitFor();
});
await check('names with invisible characters are shown as escapes', async () => {
  await page.getByText('right\\u202eleft', { exact: true }).waitFor();
  await page.locator('.name', { hasText: '""' }).waitFor();
});
await check('a place is copied as it is addressed', async () => {
  await browser.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: new URL(base).origin });
  const menu = page.getByRole('combobox', { name: 'Copy /list as' });
  for (const [form, expected] of [['JSON Pointer', '/list'], ['List', '["list"]'], ['JSONPath', '$.list']]) {
    await menu.selectOption(form);
    await until(async () => (await page.evaluate(() => navigator.clipboard.readText())) === expected);
  }
});
for (const width of [390, 820, 1440]) {
  await check(`a document fits ${width} pixels`, async () => {
    await page.goto(new URL('#/c/countries/FRA', base).href);
    await page.getByRole('button', { name: /^name/ }).waitFor();
    await page.setViewportSize({ width, height: 800 });
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), 0);
    await screenshot(`document-${width}`);
  });
}
await page.setViewportSize({ width: 1280, height: 800 });
await change('dropCollection(collection: "explored", everything: true) { collection }');
await check('a first visit opens with the example queries', async () => {
  await open();
  assert.deepEqual(await page.getByRole('tab').allInnerTexts(), TABS);
  assert.equal(await page.title(), 'Phyllo');
  await screenshot('first-visit');
});
for (const name of QUERIES) {
  await check(`the example ${name} returns no errors`, async () => {
    await page.getByRole('button', { name, exact: true }).click();
    const answer = await run();
    assert.equal(answer.errors, undefined, JSON.stringify(answer.errors));
    assert.ok(!Object.values(answer.data).some((value) => value === null && name !== 'SeveralCountries'));
    await screenshot(`example-${name}`);
  });
}
await check('the example Live shows a value again after each change, until it is stopped', async () => {
  await page.getByRole('button', { name: 'Live', exact: true }).click();
  await page.getByRole('button', { name: /^Execute query/ }).click();
  const shown = (read) => shows(`{ "data": { "document": { "id": "notes/mine#/read", "value": ${read} } } }`);
  await shown(1); // ChangeNote has counted it
  await change('incrementDocument(id: "mine", collection: "notes", path: "/read") { id }');
  await shown(2);
  await screenshot('example-Live');
  // Numbers are exact, as they are in responses to queries.
  await setRead('12345678901234567890123');
  await shown('12345678901234567890123');
  await page.getByRole('button', { name: /^Stop query/ }).click();
  await until(async () => (await openSubscriptions()) === 0);
  await setRead('3');
  await page.waitForTimeout(200);
  await shown('12345678901234567890123');
});
await check('a typed query runs and its result is shown', async () => {
  await page.getByRole('button', { name: 'New tab' }).click();
  await type(TYPED);
  await page.keyboard.press('Control+Enter');
  await page.locator('.graphiql-response').getByText('"France"').waitFor();
  const { data } = JSON.parse(await seenResponse());
  assert.ok(data.collections.some(({ name, count }) => name === 'countries' && count === 40));
  assert.equal(data.document.value, 'France');
  await screenshot('typed-query');
});
await check('completion uses the schema of the server', async () => {
  await type('query Completed { coll');
  await page.keyboard.press('Control+Space');
  await page.locator('.suggest-widget.visible .monaco-list-row', { hasText: 'collections' }).waitFor();
  await screenshot('completion');
  await page.keyboard.press('Escape');
  await type(TYPED);
});
await check('errors in a query are underlined', async () => {
  await type('query Mistaken { nothingOfTheKind }');
  await page.locator('.graphiql-query-editor .squiggly-error').waitFor();
  await type(TYPED);
});
await check('errors are shown with their path and code', async () => {
  await type('query Missed { france: document(collection: "countries", id: "FRA") { value(path: "/name/common") } many: document(collection: "countries", id: "FRA") { children(first: 20000) { nodes { path } } } }');
  const { errors, data } = await run();
  assert.deepEqual(errors.map(({ path, extensions }) => [path, extensions.code]), [
    [['many', 'children'], 'BAD_USER_INPUT'],
  ]);
  assert.deepEqual(data, { france: { value: 'France' }, many: null });
  await page.locator('.graphiql-response').getByText('"BAD_USER_INPUT"').waitFor();
  await screenshot('error');
  await type(TYPED);
});
await check('hints for an empty result are shown', async () => {
  await type('query Hinted { document(id: "countries/FRA") { value } }');
  const { data, extensions } = await run();
  assert.deepEqual(data, { document: null });
  assert.deepEqual(extensions.hints.map(({ code, path }) => [code, path]), [['GLOBAL_ID', ['document']]]);
  await page.locator('.graphiql-response').getByText('"GLOBAL_ID"').waitFor();
  await screenshot('hint');
  await type(TYPED);
});
await check('the errors of a subscription are shown as those of a query', async () => {
  await type('subscription Refused { changes(after: "no cursor") { key } }');
  await page.getByRole('button', { name: /^Execute query/ }).click();
  await page.locator('.graphiql-response').getByText('"BAD_USER_INPUT"').waitFor();
  await page.getByRole('button', { name: /^Execute query/ }).waitFor(); // it is not executed any more
  await type(TYPED);
});
await check('queries can be prettified', async () => {
  await type('query Typed{collections{name}}');
  await page.getByRole('button', { name: /^Prettify/ }).click();
  await page.locator('.graphiql-query-editor .view-line').nth(4).waitFor();
  assert.match(await page.evaluate(textOf, 'operation.graphql'), /^query Typed \{\n  collections \{/);
  await type(TYPED);
});
await check('the docs show the schema of the server', async () => {
  await page.getByRole('button', { name: 'Show Documentation Explorer' }).click();
  await page.locator('.graphiql-plugin').getByText('Query', { exact: true }).click();
  await page.locator('.graphiql-plugin').getByText('collections', { exact: true }).waitFor();
  await screenshot('docs');
  await page.getByRole('button', { name: 'Hide Documentation Explorer' }).click();
});
await check('headers of the headers pane are sent', async () => {
  await setHeaders('{"x-phyllo-test": "seen"}');
  const sent = page.waitForRequest((request) => request.headers()['x-phyllo-test'] === 'seen');
  await run();
  await sent;
});
await check('a reload keeps the typed query', async () => {
  await page.waitForTimeout(1_000); // GraphiQL saves half a second after the last key
  await open();
  assert.deepEqual(await page.getByRole('tab').allInnerTexts(), [...TABS, 'Typed']);
  assert.equal(await page.evaluate(textOf, 'operation.graphql'), TYPED);
  await screenshot('reloaded');
});
await check('no other host received a request', () => {
  assert.deepEqual([...hosts], [new URL(base).host]);
});
await check('the browser logged no errors', () => {
  assert.deepEqual(complaints, []);
});
await check('the content security policy blocks other hosts, inline scripts and eval', async () => {
  let asked = 0;
  const elsewhere = createServer(() => (asked += 1)).listen(0, '127.0.0.1');
  await once(elsewhere, 'listening');
  const refused = await page.evaluate(async (elsewhere) => {
    const refused = [];
    document.addEventListener('securitypolicyviolation', ({ effectiveDirective }) => {
      refused.push(effectiveDirective);
    });
    await fetch(elsewhere).catch(() => {});
    const image = document.createElement('img');
    image.src = elsewhere;
    const script = document.createElement('script');
    script.textContent = 'globalThis.ran = true';
    document.body.append(image, script);
    setTimeout('globalThis.ran = true', 0);
    await new Promise((resolve) => setTimeout(resolve, 500));
    return { directives: [...new Set(refused)].sort(), ran: globalThis.ran };
  }, `http://127.0.0.1:${elsewhere.address().port}/`);
  elsewhere.close();
  assert.deepEqual(refused.directives, ['connect-src', 'img-src', 'script-src', 'script-src-elem']);
  assert.equal(refused.ran, undefined);
  assert.equal(asked, 0);
});
await check('the token of the page is used by all of its requests', async () => {
  await page.goto(guarded);
  await page.getByText('This server requires a token').waitFor();
  await page.getByLabel('Token').fill(token);
  await page.keyboard.press('Enter');
  await page.getByText('The store is empty').waitFor();
  await screenshot('explore-with-a-token');
  await open(guarded);
  await type('query Guarded { __typename }');
  assert.deepEqual(await run(), { data: { __typename: 'Query' } });
  await page.evaluate(() => sessionStorage.clear());
});
await check('a server that requires a token reports it and accepts one from the headers pane', async () => {
  await open(guarded);
  await page.getByRole('button', { name: 'New tab' }).click();
  await type('query Guarded { __typename }');
  const { errors } = await run();
  assert.equal(errors[0].extensions.code, 'UNAUTHENTICATED');
  await screenshot('without-a-token');
  await setHeaders(JSON.stringify({ Authorization: `Bearer ${token}` }));
  assert.deepEqual(await run(), { data: { __typename: 'Query' } });
  await page.getByRole('button', { name: 'Re-fetch GraphQL schema' }).click();
  await page.getByRole('button', { name: 'Show Documentation Explorer' }).click();
  await page.locator('.graphiql-plugin').getByText('Query', { exact: true }).click();
  await page.locator('.graphiql-plugin').getByText('collections', { exact: true }).waitFor();
  await screenshot('with-a-token');
});
await check('a server without a change log says so to the example Live', async () => {
  await page.getByRole('button', { name: 'Live', exact: true }).click();
  await setHeaders(JSON.stringify({ Authorization: `Bearer ${token}` }));
  await page.getByRole('button', { name: /^Execute query/ }).click();
  await page.locator('.graphiql-response').getByText('--change-retention').waitFor();
  await screenshot('without-a-change-log');
});
await check('a subscription with an unknown token shows why the connection was closed', async () => {
  await setHeaders(JSON.stringify({ Authorization: 'Bearer unknown' }));
  await page.getByRole('button', { name: /^Execute query/ }).click();
  await page.locator('.graphiql-response').getByText('4403').first().waitFor();
  await screenshot('subscription-with-an-unknown-token');
});

await browser.close();
await rm(profile, { recursive: true, force: true });
console.log(`${counts.passed} passed, ${counts.failed} failed`);
process.exitCode = counts.failed === 0 ? 0 : 1;

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

/** Records all requested hosts, including those of workers, and all errors on the console. */
function watch(page) {
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

/** Opens the tab GraphiQL, in a page that is loaded again. */
async function open(url = base) {
  await page.goto('about:blank'); // a change of the fragment alone loads nothing
  await page.goto(new URL('#/graphiql', url).href);
  await page.locator('.graphiql-query-editor .view-line').first().waitFor();
  await page.locator('.graphiql-response .monaco-editor').waitFor();
}

/** Replaces the query by typing `text`. */
async function type(text) {
  await page.locator('.graphiql-query-editor .view-lines').click();
  await page.keyboard.press('Control+a');
  await page.keyboard.press('Delete');
  await page.keyboard.insertText(text);
}

/** Enters `text` in the headers pane. */
async function setHeaders(text) {
  await page.getByRole('button', { name: 'Headers', exact: true }).click();
  await page.locator('.graphiql-editor-tool .graphiql-editor:visible').click();
  await page.keyboard.press('Control+a');
  await page.keyboard.press('Delete');
  await page.keyboard.insertText(text);
}

/** Presses the button and returns the response once it is shown. */
async function run() {
  const answered = page.waitForResponse((response) => new URL(response.url()).pathname === '/graphql');
  await page.getByRole('button', { name: /^Execute query/ }).click();
  const answer = await (await answered).json();
  await page.waitForFunction((expected) => {
    const models = globalThis.__MONACO.editor.getModels();
    const text = models.find(({ uri }) => uri.path.endsWith('response.json')).getValue();
    return text !== '' && JSON.stringify(JSON.parse(text)) === expected;
  }, JSON.stringify(answer));
  return answer;
}

/** Waits until the response pane has this JSON. */
async function shows(json) {
  const squeezed = json.replaceAll(/\s/g, '');
  await page.waitForFunction((expected) => {
    const models = globalThis.__MONACO.editor.getModels();
    const text = models.find(({ uri }) => uri.path.endsWith('response.json')).getValue();
    return text.replaceAll(/\s/g, '') === expected;
  }, squeezed);
}

/** Sends a mutation as another client. */
async function change(field) {
  return send(JSON.stringify({ query: `mutation { ${field} }` }));
}

/** Stores a document, given as JSON text, as another client. */
function store(collection, key, text) {
  const query = 'mutation Store($collection: String!, $id: ID!, $document: JSON) { replaceDocument(collection: $collection, id: $id, document: $document) { id } }';
  const variables = `{"collection": ${JSON.stringify(collection)}, "id": ${JSON.stringify(key)}, "document": ${text}}`;
  return send(`{"query": ${JSON.stringify(query)}, "variables": ${variables}}`);
}

async function send(body) {
  const headers = { 'content-type': 'application/json' };
  const answer = await (await fetch(new URL('graphql', base), { method: 'POST', headers, body })).json();
  assert.equal(answer.errors, undefined, JSON.stringify(answer));
}

function setRead(value) {
  return change(`replaceDocument(id: "mine", collection: "notes", path: "/read", document: ${value}) { id }`);
}

/** The number of subscriptions over WebSockets that the server has. */
async function openSubscriptions() {
  const text = await (await fetch(new URL('metrics', base))).text();
  return Number(/^phyllo_subscriptions\{transport="websocket"\} (\d+)$/m.exec(text)[1]);
}

async function until(holds) {
  const end = Date.now() + WAIT_MS;
  while (!(await holds())) {
    assert.ok(Date.now() < end, 'waited too long');
    await new Promise((waited) => setTimeout(waited, 20));
  }
}

/** Runs in the page: the text of one of GraphiQL's editors. */
function textOf(file) {
  const models = globalThis.__MONACO.editor.getModels();
  return models.find(({ uri }) => uri.path.endsWith(file)).getValue();
}

/** The visible text of the response pane. */
async function seenResponse() {
  const lines = await page.locator('.graphiql-response .view-lines').innerText();
  return lines.replaceAll('\u00a0', ' ');
}

async function screenshot(name) {
  await page.screenshot({ path: path.join(artifacts, `${name}.png`) });
}
