// The tab Explore on large data: requests and bytes are counted.
//
//     node scale.mjs http://127.0.0.1:8080/ ARTIFACTS
//
// The collection `large` has the documents `object` (20 MB) and `array` (1,000,000 elements in `list`), the
// collection `many` has 400,000 documents.

import assert from 'node:assert/strict';
import { counted, start, until } from './harness.mjs';

const [base, artifacts] = process.argv.slice(2);
if (!artifacts) {
  console.error('usage: node scale.mjs BASE_URL ARTIFACTS');
  process.exit(2);
}
const tested = await start(base, artifacts);
const { page, check, screenshot, client } = tested;

/** A page of 100 places with their values. */
const LEVEL = { requests: 2, bytes: 40_000 };

/** Milliseconds until something is shown. What else the machine does can slow a try down, so the fastest of some is compared. */
const FIRST_VIEW_MS = 1_000;
const LEVEL_MS = 100;
const TRIES = 5;

/** Runs `attempt` some times, which returns the milliseconds that it took. */
async function assertFast(what, most, attempt) {
  const times = [];
  for (let index = 0; index < TRIES; index++) times.push(await attempt(index));
  console.log(`     ${what}: ${times.map(Math.round).join(', ')} ms`);
  assert.ok(Math.min(...times) <= most, `${times} ms`);
}

function assertWithin(what, { requests, bytes, milliseconds }, most) {
  console.log(`     ${what}: ${requests} requests, ${bytes} bytes, ${milliseconds} ms`);
  assert.ok(requests <= most.requests, `${requests} requests`);
  assert.ok(bytes <= most.bytes, `${bytes} bytes`);
}

await check('the first view reads the list of collections, and whether it may offer edits', async () => {
  const read = await counted(page, async () => {
    await page.goto(base);
    await page.getByRole('link', { name: 'many 400,000' }).waitFor();
  });
  assertWithin('first view', read, { requests: 2, bytes: 2_000 });
});
await check('400,000 documents are read 50 at a time', async () => {
  const opened = await counted(page, async () => {
    await page.getByRole('link', { name: 'many 400,000' }).click();
    await page.getByRole('link', { name: '1', exact: true }).waitFor();
  });
  assertWithin('table', opened, { requests: 3, bytes: 60_000 }); // names, rows, values
  const scrolled = await counted(page, async () => {
    await page.getByRole('region', { name: 'Documents' }).evaluate((frame) => frame.scrollBy(0, 40 * 34));
    await page.getByText('100 shown').waitFor();
  });
  assertWithin('next page', scrolled, { requests: 2, bytes: 60_000 });
  const rows = await page.locator('tbody tr').count();
  assert.ok(rows < 60, `${rows} rows in the page`);
  await screenshot('scale-table');
});
await check('a document of 20 MB shows one level', async () => {
  await page.goto(new URL('#/c/large', base).href);
  await page.getByText('2 shown').waitFor();
  const opened = await counted(page, async () => {
    await page.getByRole('link', { name: 'object', exact: true }).click();
    await page.getByRole('row', { name: /^part00000 / }).waitFor();
  });
  assertWithin('document', opened, { requests: LEVEL.requests + 1, bytes: LEVEL.bytes });
  const level = await counted(page, async () => {
    await page.getByRole('row', { name: /^part00001 / }).focus();
    await page.keyboard.press('ArrowRight');
    await page.getByRole('row', { name: /^text / }).first().waitFor();
  });
  assertWithin('level', level, LEVEL);
  await screenshot('scale-object');
});
await check('an array of 1,000,000 elements is read 100 at a time, from any index', async () => {
  await page.goto(new URL('#/c/large/array', base).href);
  const list = page.getByRole('row', { name: /^list / });
  await list.waitFor();
  const opened = await counted(page, async () => {
    await list.focus();
    await page.keyboard.press('ArrowRight');
    await page.getByRole('row', { name: '5 5' }).waitFor();
  });
  assertWithin('level', opened, LEVEL);
  const jumped = await counted(page, async () => {
    await page.getByRole('textbox', { name: 'Show from index' }).fill('999950');
    await page.keyboard.press('Enter');
    await page.getByRole('row', { name: '999955 999955' }).waitFor();
  });
  assertWithin('jump', jumped, LEVEL);
  await page.getByText('1,000,000 elements').waitFor();
  await screenshot('scale-array');
});
await check('an edit in a large array is one mutation and reads what is shown', async () => {
  const edited = await counted(page, async () => {
    await page.getByRole('row', { name: '999955 999955' }).focus();
    await page.keyboard.press('F2');
    await page.getByRole('textbox', { name: 'New value of /list/999955' }).fill('-1');
    await page.keyboard.press('Enter');
    await page.getByRole('row', { name: '999955 -1' }).waitFor();
  });
  assertWithin('edit', edited, { requests: 7, bytes: 10_000 }); // also as a change that is followed
});
await check('what changes in a large array is marked, and only that is read', async () => {
  await page.locator('.live-status.live').waitFor();
  const changed = await counted(page, async () => {
    await client.change('replaceDocument(id: "array", collection: "large", path: "/list/999956", document: -2) { id }');
    await page.locator('.changed', { hasText: '999956 -2' }).waitFor();
  });
  assertWithin('change', changed, { requests: 2, bytes: 2_000 }); // the places, and their values
  assert.equal(await page.locator('.changed', { hasText: '999957' }).count(), 0);
  assert.equal(await client.openSubscriptions(), 1);
});
await check('a JSONPath that selects a million places is stopped, and a slice of it is shown', async () => {
  await page.getByRole('button', { name: 'JSONPath', exact: true }).click();
  const field = page.getByRole('textbox', { name: 'JSONPath' });
  await page.getByText('1 place', { exact: true }).waitFor();
  await field.fill('$.list[*]');
  await page.getByRole('alert').waitFor();
  await screenshot('scale-jsonpath');
  const sliced = await counted(page, async () => {
    await field.fill('$.list[500000:500100]');
    await page.getByText('100 places', { exact: true }).waitFor();
  });
  assertWithin('slice', sliced, LEVEL);
  await page.getByRole('button', { name: 'JSONPath', exact: true }).click();
});
await check('a search in 400,000 documents ends at the limit, and offers to go on', async () => {
  await page.goto(new URL('#/c/many', base).href);
  await page.getByRole('link', { name: '1', exact: true }).waitFor();
  const searched = await counted(page, async () => {
    await page.getByRole('searchbox', { name: 'Search in all strings' }).fill('MENT 390001');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Examine up to 1,000,000 documents' }).waitFor();
  });
  assertWithin('search', searched, { requests: 1, bytes: 2_000 });
  await page.getByText('No index serves a search inside of strings').waitFor();
  await screenshot('scale-limit');
});
await check('an order that no index serves says so, and an index is offered', async () => {
  await page.getByRole('searchbox', { name: 'Search in all strings' }).fill('');
  await page.getByRole('link', { name: '1', exact: true }).waitFor();
  await page.getByRole('button', { name: 'number', exact: true }).click();
  await page.getByText('An index on $.number would serve this.').waitFor();
});
await check('the build of an index shows its progress, which grows', async () => {
  await page.getByRole('button', { name: 'Create the index' }).click();
  const index = page.getByRole('list', { name: 'Indexes' }).getByRole('listitem');
  const seen = new Set();
  await until(async () => {
    const [, number] = /building: ([\d,]+) of 400,000 documents/.exec(await index.innerText()) ?? [];
    if (number !== undefined) seen.add(Number(number.replaceAll(',', '')));
    return seen.size >= 3;
  });
  await screenshot('scale-building');
  console.log(`     documents: ${[...seen].join(', ')}`);
  assert.deepEqual([...seen], [...seen].toSorted((one, other) => one - other));
  assert.ok(Math.max(...seen) <= 400_000);
  // The rest of the build would take its time from the next checks.
  await client.query('mutation { dropIndex(collection: "many", name: "number") }');
  await page.getByRole('button', { name: 'key', exact: false }).first().click();
});
await check('the first view is shown within a second', () =>
  assertFast('first view', FIRST_VIEW_MS, async () => {
    await page.goto('about:blank');
    await page.goto(base, { waitUntil: 'commit' });
    await page.getByRole('link', { name: 'many 400,000' }).waitFor();
    return page.evaluate(() => performance.now());
  }));
await check('a level of a large document is opened within 100 milliseconds', async () => {
  await page.goto(new URL('#/c/large/object', base).href);
  await page.getByRole('row', { name: /^part00000 / }).waitFor();
  await assertFast('level', LEVEL_MS, async (index) => {
    await page.getByRole('row', { name: new RegExp(`^part0000${index} `) }).focus();
    // Measured in the page: from the key to the first child.
    await page.evaluate(() => {
      globalThis.measured = new Promise((resolve) => {
        let begin;
        const rows = () => document.querySelectorAll('[role="row"][aria-level="3"] .name').length;
        const before = rows();
        addEventListener('keydown', () => (begin = performance.now()), { once: true, capture: true });
        new MutationObserver((_, observer) => {
          if (begin === undefined || rows() <= before) return;
          observer.disconnect();
          resolve(performance.now() - begin);
        }).observe(document.body, { childList: true, subtree: true });
      });
    });
    await page.keyboard.press('ArrowRight');
    const milliseconds = await page.evaluate(() => globalThis.measured);
    await page.keyboard.press('ArrowLeft');
    await page.locator('[role="row"][aria-level="3"]').first().waitFor({ state: 'detached' });
    return milliseconds;
  });
});
await check('the check of stored documents shows its progress', async () => {
  const schema = { type: 'object', properties: { number: { type: 'integer' }, name: { type: 'string' } } };
  await client.query('mutation ($schema: JSON!) { setCollectionType(collection: "many", schema: $schema) { state } }', { schema });
  await page.goto('about:blank');
  await page.goto(new URL('#/c/many', base).href);
  await page.getByText(/^Checking: [1-9][\d,]* documents read$/).waitFor();
  await screenshot('scale-checking');
});
await check('a document of a collection with a type reads no more than the type', async () => {
  await page.goto('about:blank');
  await page.goto(base);
  await page.getByRole('link', { name: 'many 400,000' }).waitFor();
  await page.waitForLoadState('networkidle');
  const opened = await counted(page, async () => {
    await page.goto(new URL('#/c/many/7', base).href);
    await page.getByRole('row', { name: /^name / }).waitFor();
  });
  assertWithin('typed document', opened, { requests: LEVEL.requests + 2, bytes: LEVEL.bytes }); // also the type
});
await check('the examples of GraphiQL are made from collections without types', async () => {
  await client.query('mutation { dropCollectionType(collection: "many") }');
  await page.goto('about:blank');
  await page.goto(new URL('#/graphiql', base).href);
  await page.locator('.graphiql-query-editor .view-line').first().waitFor();
  await page.locator('.graphiql-response .monaco-editor').waitFor();
  assert.deepEqual((await page.locator('.graphiql-tab').allInnerTexts()).slice(0, 3), ['OneDocument', 'Children', 'FindDocuments']);
  for (const name of ['OneDocument', 'Children', 'FindDocuments']) {
    await page.getByRole('button', { name, exact: true }).click();
    const answered = page.waitForResponse((response) => new URL(response.url()).pathname === '/graphql');
    await page.getByRole('button', { name: /^Execute query/ }).click();
    const { errors, data } = await (await answered).json();
    assert.equal(errors, undefined, JSON.stringify(errors));
    assert.ok(Object.values(data).every((value) => value !== null), name);
  }
  await screenshot('scale-examples');
});
await tested.end();
