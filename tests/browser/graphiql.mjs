// The tab GraphiQL.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { assertAccessible } from './axe.mjs';
import { assertFits, until } from './harness.mjs';

/** Made from the type of the collection with most documents. */
const OF_THE_TYPE = ['Country', 'Countries', 'UpdateCountry', 'CreateCountry'];
const QUERIES = [...OF_THE_TYPE, 'OneCountry', 'BigDocument', 'SeveralCountries', 'FindCountries', 'Collections', 'InsertNote', 'ChangeNote'];
const TABS = [...QUERIES, 'Live'];
const TYPED = `query Typed { collections { name count } document(collection: "countries", id: "FRA") { value(path: ["name", "common"]) } }`;

/** On a server with the sample data, and on one that requires the token. */
export async function graphiql({ base, page, check, screenshot, complaints, hosts, client }, { guarded, token }) {
  const { change, openSubscriptions } = client;
  const setRead = (value) => change(`replaceDocument(id: "mine", collection: "notes", path: "/read", document: ${value}) { id }`);
  await check('a first visit opens with the example queries', async () => {
    // GraphiQL saves its tabs some time after a change, so they are removed from a page without it.
    await page.goto('about:blank');
    await page.goto(base);
    await page.evaluate(() => localStorage.clear());
    await open();
    assert.deepEqual(await page.locator('.graphiql-tab').allInnerTexts(), TABS);
    assert.equal(await page.title(), 'GraphiQL · Phyllo');
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
  await check('the examples of a type change nothing', async () => {
    const { collections, country } = await client.query('{ collections { name count } country(key: "AND") { region } }');
    assert.equal(collections.find(({ name }) => name === 'countries').count, 40);
    assert.deepEqual(country, { region: 'Europe' });
  });
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
  await check('completion in strings uses the store', async () => {
    const offered = (text) => page.locator('.suggest-widget.visible .monaco-list-row', { hasText: text });
    for (const [query, expected] of [
      ['{ document(collection: "coun', 'countries'],
      ['{ document(collection: "countries", id: "FR', 'FRA'],
      ['{ document(collection: "countries", id: "FRA", path: "/name/', '/name/official'],
      ['{ documents(collection: "countries", where: {at: "$.na', '$.name.official'],
      ['{ country(key: "FR', 'FRA'],
      ['mutation { updateCountry(key: "FR', 'FRA'],
    ]) {
      await type(query);
      await page.keyboard.press('Control+Space');
      await offered(expected).waitFor();
      await page.keyboard.press('Escape');
    }
    await type(TYPED);
  });
  await check('members and values of a type are completed', async () => {
    for (const [query, expected] of [
      ['{ country(key: "FRA") { subr', 'subregion'],
      ['{ countries(where: {region: {eq: Ocea', 'Oceania'],
    ]) {
      await type(query);
      await page.keyboard.press('Control+Space');
      await page.locator('.suggest-widget.visible .monaco-list-row', { hasText: expected }).waitFor();
      await page.keyboard.press('Escape');
    }
    await type(TYPED);
  });
  await check('a type that is set in Explore is in the schema of GraphiQL', async () => {
    await client.store('gadgets', 'one', '{"weight": 1}');
    await page.getByRole('link', { name: 'Explore' }).click();
    await page.getByRole('button', { name: 'Reload' }).click();
    await page.getByRole('link', { name: 'gadgets 1' }).click();
    await page.getByRole('button', { name: 'Set a type' }).click();
    await page.getByRole('button', { name: 'Set the type' }).click();
    await page.getByText('All documents fit', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'GraphiQL' }).click();
    await type('{ gadget(key: "one") { weig');
    await until(async () => {
      await page.keyboard.press('Control+Space');
      await page.waitForTimeout(200);
      return page.locator('.suggest-widget.visible .monaco-list-row', { hasText: 'weight' }).isVisible();
    });
    await page.keyboard.press('Escape');
    await type('{ gadget(key: "');
    await page.keyboard.press('Control+Space');
    await page.locator('.suggest-widget.visible .monaco-list-row', { hasText: 'one' }).waitFor();
    await page.keyboard.press('Escape');
    // Explore stays as it was left, and would follow the collection.
    await page.goto(new URL('#/', base).href);
    await page.goto(new URL('#/graphiql', base).href);
    await client.change('dropCollection(collection: "gadgets", everything: true) { collection }');
    await type(TYPED);
  });
  await check('GraphiQL can be used at 390 pixels', async () => {
    await page.setViewportSize({ width: 390, height: 800 });
    try {
      await until(() => page.evaluate(() => innerWidth === 390 && document.documentElement.scrollWidth === 390));
      assert.deepEqual(Object.keys((await run()).data), ['collections', 'document']);
      const [editor, response] = await Promise.all(
        ['.graphiql-query-editor', '.graphiql-response'].map((selector) => page.locator(selector).boundingBox()),
      );
      assert.ok(editor.width > 300 && response.width > 300 && response.height > 200);
      await screenshot('graphiql-390');
    } finally {
      await page.setViewportSize({ width: 1280, height: 800 });
    }
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
  await check('the docs show the schema of the server, with its description', async () => {
    await page.getByRole('button', { name: 'Show Documentation Explorer' }).click();
    await page.locator('.graphiql-plugin').getByText(/^Phyllo stores JSON documents/).waitFor();
    await screenshot('docs-schema');
    await page.locator('.graphiql-plugin').getByText('Query', { exact: true }).click();
    await page.locator('.graphiql-plugin').getByText('collections', { exact: true }).waitFor();
    await screenshot('docs');
    await page.getByRole('button', { name: 'Hide Documentation Explorer' }).click();
  });
  for (const colorScheme of ['light', 'dark']) {
    await check(`GraphiQL is accessible, ${colorScheme}`, async () => {
      await page.waitForTimeout(1_000); // GraphiQL saves half a second after the last key
      await page.emulateMedia({ colorScheme });
      await open(); // the editors choose their colors when they are loaded
      for (const width of [390, 820, 1440]) {
        await page.setViewportSize({ width, height: 800 });
        await assertFits(page);
        await screenshot(`graphiql-${width}-${colorScheme}`);
        await assertAccessible(page);
      }
    });
  }
  await page.emulateMedia({ colorScheme: null });
  await page.setViewportSize({ width: 1280, height: 800 });
  await check('headers of the headers pane are sent', async () => {
    await setHeaders('{"x-phyllo-test": "seen"}');
    const sent = page.waitForRequest((request) => request.headers()['x-phyllo-test'] === 'seen');
    await run();
    await sent;
  });
  await check('a reload keeps the typed query', async () => {
    await page.waitForTimeout(1_000); // GraphiQL saves half a second after the last key
    await open();
    assert.deepEqual(await page.locator('.graphiql-tab').allInnerTexts(), [...TABS, 'Typed']);
    assert.equal(await page.evaluate(textOf, 'operation.graphql'), TYPED);
    await screenshot('reloaded');
  });
  await check('no other host received a request', () => {
    const names = new Set([...hosts].map((host) => new URL(`http://${host}`).hostname));
    assert.deepEqual([...names], [new URL(base).hostname]);
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
}
