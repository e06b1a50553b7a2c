// The tab Explore, where nothing is changed.

import assert from 'node:assert/strict';
import { assertAccessible } from './axe.mjs';
import { assertFits, chooseInMenu, counted, until } from './harness.mjs';

const WIDTHS = [390, 820, 1440];

/** The page without GraphiQL, compressed. */
const PAGE_BYTES_MAX = 400_000;

/** Keys that are shown with escapes, or in another direction, and must be copied as they are. */
const ODD_KEYS = ['', 'it\'s "quoted"', '👩🏽\u200d🔬', '\u0000', 'right\u202eleft', 'עברית', 'a/b~c', '__proto__', ' '];

export async function explore({ base, browser, page, check, screenshot, client }) {
  await check('a first visit lists the collections and loads no GraphiQL', async () => {
    await page.goto(base);
    await page.getByRole('link', { name: 'countries 40' }).waitFor();
    await page.waitForLoadState('networkidle');
    const bytes = await page.evaluate(() =>
      ['navigation', 'resource']
        .flatMap((type) => performance.getEntriesByType(type))
        .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0));
    console.log(`     the page without GraphiQL: ${bytes} bytes`);
    assert.ok(bytes > 50_000 && bytes <= PAGE_BYTES_MAX, `${bytes} bytes`);
    assert.equal(await page.locator('.graphiql-container').count(), 0);
    await assertAccessible(page);
  });
  await check('the first view has the documents, types and indexes of all collections', async () => {
    const row = page.getByRole('region', { name: 'All collections' }).getByRole('row', { name: /^countries/ });
    assert.deepEqual(await row.getByRole('cell').allInnerTexts(), ['40', 'all documents fit', 'none']);
  });
  for (const colorScheme of ['light', 'dark']) {
    for (const width of WIDTHS) {
      await check(`the first view fits ${width} pixels and is accessible, ${colorScheme}`, async () => {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 800 });
        await assertFits(page);
        await screenshot(`first-${width}-${colorScheme}`);
        await assertAccessible(page);
      });
    }
  }
  await page.emulateMedia({ colorScheme: null });
  await page.setViewportSize({ width: 1280, height: 800 });
  await check('a collection is a table, sorted by a column on request', async () => {
    await page.getByRole('link', { name: 'countries 40' }).click();
    await page.getByRole('link', { name: 'FRA', exact: true }).waitFor();
    await page.getByRole('cell', { name: '"France"', exact: true }).first().waitFor();
    const first = () => page.locator('tbody a').first().innerText();
    const before = await first();
    await page.getByRole('button', { name: 'area', exact: true }).click();
    await until(async () => (await first()) !== before);
    await page.getByText('Without an index: 40 documents examined').waitFor();
    assert.equal(await page.title(), 'countries · Phyllo');
  });
  await check('documents are sorted by their keys, from both ends', async () => {
    const first = (key) => until(async () => (await page.locator('tbody a').first().innerText()) === key);
    const sort = page.getByRole('columnheader', { name: 'key' });
    await sort.getByRole('button').click();
    await first('AND');
    assert.equal(await sort.getAttribute('aria-sort'), 'ascending');
    await sort.getByRole('button').click();
    await first('ZAF');
    assert.equal(await sort.getAttribute('aria-sort'), 'descending');
    await sort.getByRole('button').click();
    await first('AND');
    await page.getByRole('button', { name: 'area', exact: true }).click();
    await first('MCO');
  });
  for (const colorScheme of ['light', 'dark']) {
    for (const width of WIDTHS) {
      await check(`the table fits ${width} pixels and is accessible, ${colorScheme}`, async () => {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 800 });
        await assertFits(page);
        await screenshot(`table-${width}-${colorScheme}`);
        await assertAccessible(page);
      });
    }
  }
  await page.emulateMedia({ colorScheme: null });
  await page.setViewportSize({ width: 1280, height: 800 });

  const odd = ODD_KEYS.map((key, index) => `${JSON.stringify(key)}: ${index}`).join(', ');
  const list = JSON.stringify(Array.from({ length: 5_000 }, (_, index) => `element ${index}`));
  const numbers = `"digits": 123456789012345678901234567890, "minus": -0.0`;
  await client.store('explored', 'big', `{"list": ${list}, "odd": {${odd}}, ${numbers}, "long": "${'x'.repeat(1_000_000)}"}`);
  await check('opening a level reads one page of it, and scrolling to its end the next one', async () => {
    await page.goto(new URL('#/', base).href);
    await page.getByRole('button', { name: 'Reload' }).click();
    await page.getByRole('link', { name: 'explored 1' }).click();
    await page.getByRole('link', { name: 'big', exact: true }).click();
    const row = page.getByRole('row', { name: /^list/ });
    await row.waitFor();
    await page.waitForLoadState('networkidle');
    const opened = await counted(page, async () => {
      await row.focus();
      await page.keyboard.press('ArrowRight');
      await page.getByText('"element 5"', { exact: true }).waitFor();
    });
    assert.equal(opened.requests, 2); // the children, and their values
    assert.ok(opened.bytes < 40_000, `${opened.bytes} bytes`);
    const scrolled = await counted(page, async () => {
      await page.locator('.tree').evaluate((tree) => tree.scrollBy(0, 100 * 32));
      await page.getByText('"element 103"', { exact: true }).waitFor();
    });
    assert.equal(scrolled.requests, 2);
    const rows = await page.getByRole('row').count();
    assert.ok(rows < 60, `${rows} rows in the page`);
    await page.locator('.tree').evaluate((tree) => tree.scrollTo(0, 0));
  });
  await check('a long level begins where it is asked to', async () => {
    const from = page.getByRole('textbox', { name: 'Show from index' });
    await from.fill('4990');
    await page.keyboard.press('Enter');
    await page.getByText('"element 4999"', { exact: true }).waitFor();
    assert.equal(await page.getByText('"element 5"', { exact: true }).count(), 0);
    await page.getByRole('button', { name: 'From the first' }).click();
    await page.getByText('"element 5"', { exact: true }).waitFor();
    await page.getByRole('row', { name: /^list/ }).focus();
    await page.keyboard.press('ArrowLeft');
    await page.getByText('"element 5"', { exact: true }).waitFor({ state: 'detached' });
  });
  await check('the keyboard reaches all rows', async () => {
    await page.keyboard.press('Home');
    await until(() => page.evaluate(() => document.activeElement?.getAttribute('aria-level') === '1'));
    await page.keyboard.press('End');
    await until(() => page.evaluate(() => document.activeElement?.textContent?.includes('odd')));
    await page.keyboard.press('ArrowRight');
    await page.getByText('a/b~c', { exact: true }).waitFor();
    await page.keyboard.press('ArrowDown');
    await until(() => page.evaluate(() => document.activeElement?.getAttribute('aria-level') === '3'));
    await page.keyboard.press('ArrowLeft');
    await until(() => page.evaluate(() => document.activeElement?.getAttribute('aria-expanded') === 'true'));
    const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
    assert.equal(outline, 'solid');
  });
  await check('numbers keep their digits and their sign', async () => {
    await page.getByText('123456789012345678901234567890', { exact: true }).waitFor();
    await page.getByText('-0.0', { exact: true }).waitFor();
  });
  await check('names with invisible characters are shown as escapes', async () => {
    await page.getByText('right\\u202eleft', { exact: true }).waitFor();
    await page.getByText('\\u0000', { exact: true }).waitFor();
    await page.locator('.name', { hasText: '""' }).waitFor();
    await screenshot('odd-names');
    await assertAccessible(page);
  });
  await check('a place is copied as it is addressed', async () => {
    await browser.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: new URL(base).origin });
    const copied = async (name, form) => {
      await page.evaluate(() => navigator.clipboard.writeText('nothing'));
      await chooseInMenu(page, name, form);
      await until(async () => (await page.evaluate(() => navigator.clipboard.readText())) !== 'nothing');
      return page.evaluate(() => navigator.clipboard.readText());
    };
    assert.equal(await copied('Copy /list as', 'JSON Pointer'), '/list');
    assert.equal(await copied('Copy /list as', 'List'), '["list"]');
    assert.equal(await copied('Copy /list as', 'JSONPath'), '$.list');
    assert.equal(await copied('Copy /digits as', 'Value'), '123456789012345678901234567890');
    assert.equal((await copied('Copy /long as', 'Value')).length, 1_000_002);
    assert.deepEqual(JSON.parse(await copied('Copy /odd as', 'Value')), Object.fromEntries(ODD_KEYS.map((key, index) => [key, index])));
    for (const [index, key] of ODD_KEYS.entries()) {
      const menu = `Copy /odd/${key.replaceAll('~', '~0').replaceAll('/', '~1')} as`;
      assert.deepEqual(JSON.parse(await copied(menu, 'List')), ['odd', key]);
      const answer = await client.query(await copied(menu, 'GraphQL query'));
      assert.equal(answer.document.value, index, JSON.stringify(key));
    }
  });
  await check('a string of 1 MB is read when it is asked for, and copied as a whole', async () => {
    const row = page.getByRole('row', { name: /string of 1,000,000 characters/ });
    const shown = await counted(page, async () => {
      await row.getByRole('button', { name: 'Show' }).click();
      await page.getByText('The first 100,000 characters are shown.').waitFor();
    });
    assert.equal(shown.requests, 1);
    await page.getByRole('button', { name: 'Copy all of it' }).click();
    await until(async () => (await page.evaluate(() => navigator.clipboard.readText())).length === 1_000_000);
    await screenshot('long-string');
    await row.getByRole('button', { name: 'Hide' }).click();
  });
  await check('a JSONPath is tried as it is typed, with its errors', async () => {
    await page.getByRole('button', { name: 'JSONPath', exact: true }).click();
    const field = page.getByRole('textbox', { name: 'JSONPath' });
    await field.fill('$.list[-2:]');
    await page.getByText('2 places').waitFor();
    await page.getByText('$.list[4999]', { exact: true }).waitFor();
    await field.fill('$.list[');
    await page.getByRole('alert').waitFor();
    await screenshot('jsonpath-mistake');
    await page.getByRole('button', { name: 'JSONPath', exact: true }).click();
  });
  await check('a slow press opens a level on a phone', async () => {
    await page.setViewportSize({ width: 390, height: 800 });
    await page.goto(new URL('#/c/countries/FRA', base).href);
    await page.getByRole('row', { name: /^name/ }).getByText('name', { exact: true }).click({ delay: 200 });
    await page.getByText('"French Republic"', { exact: true }).waitFor();
  });
  for (const colorScheme of ['light', 'dark']) {
    for (const width of WIDTHS) {
      await check(`a document fits ${width} pixels and is accessible, ${colorScheme}`, async () => {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 800 });
        await page.goto(new URL('#/c/countries/FRA', base).href);
        const name = page.getByRole('row', { name: /^name/ });
        await name.waitFor();
        if ((await name.getAttribute('aria-expanded')) === 'false') await name.getByText('name', { exact: true }).click();
        await page.getByText('"French Republic"', { exact: true }).waitFor();
        await assertFits(page);
        await screenshot(`document-${width}-${colorScheme}`);
        await assertAccessible(page);
      });
    }
  }
  await client.change('dropCollection(collection: "explored", everything: true) { collection }');
  await page.emulateMedia({ colorScheme: null });
  await page.setViewportSize({ width: 1280, height: 800 });
}
