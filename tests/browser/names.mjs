// Names of collections and keys with any characters.

import assert from 'node:assert/strict';
import { assertAccessible } from './axe.mjs';
import { assertFits, chooseInMenu, until } from './harness.mjs';

/** Each with the text that shows it. */
const NAMES = {
  ' ': '" "',
  'it\'s "quoted"': 'it\'s "quoted"',
  '👩🏽\u200d🔬': '👩🏽\\u200d🔬',
  '\u0000': '\\u0000',
  'right\u202eleft': 'right\\u202eleft',
  'עברית': 'עברית',
  'a/b/': 'a/b/',
  '#c': '#c',
  '%': '%',
  '%2F': '%2F',
  '..': '..',
  'a b\n': 'a b\\u000a',
  ['__proto__']: '__proto__', // computed, so that it is a member
  graphiql: 'graphiql',
};
/** Keys that no collection has as its name, as the API writes them: the empty string, digits, and an integer. */
const KEYS = { '""': '""', '"42"': '"42"', '42': '42' };

export async function names({ base, browser, page, check, screenshot, client }) {
  const origin = new URL(base).origin;
  const hashOf = (...parts) => `#/c/${parts.map(encodeURIComponent).join('/')}`;
  const link = (hash) => page.locator(`a[href="${hash}"]`).first(); // the overview has another one
  const entries = Object.entries(NAMES);
  for (const [name] of entries) await client.store(name, name, JSON.stringify({ [name]: `in ${name}` }));
  for (const [key] of Object.entries(KEYS)) await client.store('keys', key, JSON.stringify({ mine: key }));
  await browser.grantPermissions(['clipboard-read', 'clipboard-write'], { origin });
  const copied = async (form) => {
    await page.evaluate(() => navigator.clipboard.writeText('nothing copied'));
    await chooseInMenu(page, 'Copy the document as', form);
    await until(async () => (await page.evaluate(() => navigator.clipboard.readText())) !== 'nothing copied');
    return page.evaluate(() => navigator.clipboard.readText());
  };
  const heading = () => page.getByRole('main').getByRole('heading', { level: 1 }).evaluate((heading) => heading.textContent);
  /** Opens the document that is linked in the table, and copies what names it. */
  const assertDocument = async (collection, key, shown, value) => {
    const document = link(hashOf(collection, key));
    await document.waitFor();
    assert.equal(await document.evaluate((link) => link.textContent), shown);
    await document.click();
    await page.locator('.tree code.string').first().waitFor();
    assert.equal(await heading(), shown);
    assert.equal(JSON.parse(await page.locator('.tree code.string').first().innerText()), value);
    assert.equal(await copied('Key'), key);
    assert.equal(await copied('Collection'), collection);
    assert.equal(await copied('Link'), new URL(hashOf(collection, key), base).href);
    const { document: answer } = await client.query(await copied('GraphQL query'));
    assert.deepEqual(Object.values(answer.value), [value]);
  };

  await page.goto('about:blank');
  await page.goto(new URL('#/', base).href);
  await link(hashOf('keys')).waitFor();
  for (const [name, shown] of entries) {
    await check(`${JSON.stringify(name)} names a collection, a document and a member`, async () => {
      const collection = page.getByRole('navigation', { name: 'Collections' }).locator(`a[href="${hashOf(name)}"]`);
      assert.equal(await collection.locator('bdi').evaluate((name) => name.textContent), shown);
      await collection.click();
      await link(hashOf(name, name)).waitFor();
      assert.equal(await heading(), shown);
      await assertDocument(name, name, shown, `in ${name}`);
      await page.reload();
      await page.locator('.tree code.string').waitFor();
      await page.getByRole('main').locator('.back').click();
      await link(hashOf(name, name)).waitFor();
    });
  }
  for (const [key, shown] of Object.entries(KEYS)) {
    await check(`the key ${key} is opened, shown and copied`, async () => {
      await page.goto(new URL(hashOf('keys'), base).href);
      await assertDocument('keys', key, shown, key);
    });
  }
  await check('a collection and a key with any characters open by their names', async () => {
    await page.getByText('Open by name').click();
    await page.getByRole('textbox', { name: 'Collection' }).fill('a/b/');
    await page.getByRole('textbox', { name: 'Key' }).fill('a/b/');
    await page.getByRole('button', { name: 'Open', exact: true }).click();
    await until(async () => (await heading()) === 'a/b/');
    await page.locator('.tree code.string').waitFor();
  });
  for (const width of [390, 820, 1440]) {
    await check(`odd names fit ${width} pixels and are accessible`, async () => {
      await page.setViewportSize({ width, height: 800 });
      await page.goto(new URL('#/', base).href);
      await link(hashOf('keys')).waitFor();
      await assertFits(page);
      await screenshot(`names-${width}`);
      await assertAccessible(page);
    });
  }
  await page.setViewportSize({ width: 1280, height: 800 });
  for (const name of [...entries.map(([name]) => name), 'keys']) {
    await client.change(`dropCollection(collection: ${JSON.stringify(name)}, everything: true) { collection }`);
  }
}
