// The tab Explore on large data: requests and bytes are counted.
//
//     node scale.mjs http://127.0.0.1:8080/ ARTIFACTS
//
// The collection `large` has the documents `object` (20 MB) and `array` (1,000,000 elements in `list`), the
// collection `many` has 400,000 documents.

import assert from 'node:assert/strict';
import { counted, start } from './harness.mjs';

const [base, artifacts] = process.argv.slice(2);
if (!artifacts) {
  console.error('usage: node scale.mjs BASE_URL ARTIFACTS');
  process.exit(2);
}
const tested = await start(base, artifacts);
const { page, check, screenshot } = tested;

/** A page of 100 places with their values. */
const LEVEL = { requests: 2, bytes: 40_000 };

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
await tested.end();
