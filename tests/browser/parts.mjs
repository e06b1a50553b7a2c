// Parts of a document that are opened by their path.

import assert from 'node:assert/strict';
import { assertAccessible } from './axe.mjs';
import { assertFits, chooseInMenu, until } from './harness.mjs';

const WIDTHS = [390, 820, 1440];
const DOCUMENT = '{"profile": {"name": "Ada", "tags": ["a", "b"], "address": {"city": "Paris"}}, "reviews": {"42": "good"}, "a/b~": {"\u202e\\u0000": {"%#\\"": 1}}, "count": 1}';

export async function parts({ base, browser, page, check, screenshot, client }) {
  const { read } = client;
  await client.store('parts', 'one', DOCUMENT);
  const addressOf = (path) => new URL(`#/c/parts/one/${encodeURIComponent(path)}`, base).href;
  const open = async (path) => {
    await page.goto('about:blank');
    await page.goto(addressOf(path));
  };
  const row = (name) => page.getByRole('row', { name: new RegExp(`^${name}`) });
  const trail = page.getByRole('navigation', { name: 'Path' });
  const press = async (name, key) => {
    await row(name).first().focus();
    await page.keyboard.press(key);
  };
  const sent = [];
  const record = (request) => {
    const body = request.postData();
    if (body?.startsWith('{"query"')) sent.push({ name: /(?:query|mutation) (\w+)/.exec(body)[1], variables: JSON.parse(body).variables });
  };
  page.on('request', record);

  await check('an address opens a part, and reads nothing above it', async () => {
    await open('/profile');
    await row('profile').waitFor();
    await row('name "Ada"').waitFor();
    assert.equal(await row('count').count(), 0);
    const levels = sent.filter(({ name }) => ['Root', 'Level'].includes(name)).map(({ variables }) => variables.path);
    assert.deepEqual(levels, [['profile'], ['profile']]);
    await page.locator('.live-status.live').waitFor();
  });
  await check('an edit in a part is sent to its place at its version, and is undone', async () => {
    sent.length = 0;
    await press('name', 'F2');
    await page.getByRole('textbox', { name: 'New value of /profile/name' }).fill('Grace');
    await page.keyboard.press('Enter');
    await page.getByText('Changed /profile/name.').waitFor();
    const [{ variables }] = sent.filter(({ name }) => name === 'Replace');
    assert.deepEqual(variables.path, ['profile', 'name']);
    assert.match(variables.ifVersion, /./);
    assert.equal(await read('parts', 'one', '/profile/name'), '"Grace"');
    await page.getByRole('button', { name: 'Undo' }).click();
    await until(async () => (await read('parts', 'one', '/profile/name')) === '"Ada"');
    await row('name "Ada"').waitFor();
  });
  await check('a change inside of the part and one above it are shown', async () => {
    await client.change('replaceDocument(id: "one", collection: "parts", path: "/profile/name", document: "Joan") { id }');
    await row('name "Joan"').waitFor();
    await client.store('parts', 'one', DOCUMENT.replace('Ada', 'Mary'));
    await row('name "Mary"').waitFor();
  });
  await check('the trail leads up', async () => {
    await open('/profile/address');
    await row('city').waitFor();
    assert.deepEqual(await trail.getByRole('link').allInnerTexts(), ['$', 'profile', 'address']);
    await trail.getByRole('link', { name: 'profile' }).click();
    await row('name').waitFor();
    await trail.getByRole('link', { name: '$' }).click();
    await row('count').waitFor();
    assert.equal(await trail.count(), 0);
  });
  await check('an element of an array and a name of digits are different places', async () => {
    await open('/profile/tags/1');
    await row('1 "b"').waitFor();
    await open('/reviews/42');
    await row('42 "good"').waitFor();
    await open('["reviews","42"]');
    await row('42 "good"').waitFor();
    await open('["reviews",42]');
    await page.getByText('Nothing is stored at this path.').waitFor();
    await open('reviews');
    await page.getByText('The address has no valid path.').waitFor();
    await assertAccessible(page);
  });
  await check('a place is opened as the root, with any name', async () => {
    await browser.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: new URL(base).origin });
    await open('');
    await press('a/b~', 'ArrowRight');
    await row('\\\\u202e\\\\u0000').waitFor();
    await press('\\\\u202e\\\\u0000', 'ArrowRight');
    await row('%#" 1').waitFor();
    const label = 'Copy /a~1b~0/\u202e\u0000/%#" as';
    await chooseInMenu(page, label, 'Link');
    await page.getByText('Copied').waitFor();
    const link = await page.evaluate(() => navigator.clipboard.readText());
    assert.equal(link, addressOf('/a~1b~0/\u202e\u0000/%#"'));
    await chooseInMenu(page, label, 'Open as the root');
    await trail.waitFor();
    assert.deepEqual(await trail.getByRole('link').allInnerTexts(), ['$', 'a/b~', '\\u202e\\u0000', '%#"']);
    assert.equal(page.url(), link);
    await trail.getByRole('link').nth(2).click();
    await row('\\\\u202e\\\\u0000').waitFor();
    await row('%#" 1').waitFor();
  });
  await check('a place is opened in GraphiQL', async () => {
    await open('/profile');
    await row('name').waitFor();
    await chooseInMenu(page, 'Copy /profile/name as', 'Open in GraphiQL');
    await page.locator('.graphiql-tab', { hasText: 'Place' }).waitFor();
    await page.locator('.graphiql-query-editor').getByText('"profile"').waitFor();
    await page.goto('about:blank');
  });
  await check('a JSONPath begins at the part', async () => {
    await open('/profile');
    await page.getByRole('button', { name: 'JSONPath' }).click();
    await page.getByRole('textbox', { name: 'JSONPath' }).fill('$.tags[*]');
    await page.getByText('2 places').waitFor();
    await page.getByText('$.profile.tags[1]', { exact: true }).waitFor();
  });
  await check('a value is stored where nothing is, removed, and comes back', async () => {
    await open('/profile/new');
    await page.getByRole('button', { name: 'Store a value' }).click();
    await page.getByRole('textbox', { name: 'New value of /profile/new' }).fill('fresh');
    await page.keyboard.press('Enter');
    await row('new "fresh"').waitFor();
    assert.equal(await read('parts', 'one', '/profile/new'), '"fresh"');
    await press('new', 'Delete');
    await page.getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByText('Nothing is stored at this path.').waitFor();
    await page.getByText('Removed /profile/new.').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await row('new "fresh"').waitFor();
    assert.equal(await read('parts', 'one', '/profile/new'), '"fresh"');
  });
  for (const colorScheme of ['light', 'dark']) {
    for (const width of WIDTHS) {
      await check(`a part fits ${width} pixels and is accessible, ${colorScheme}`, async () => {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 800 });
        await open('/profile/address');
        await row('city').waitFor();
        await assertFits(page);
        await screenshot(`part-${width}-${colorScheme}`);
        await assertAccessible(page);
      });
    }
  }
  page.off('request', record);
  await page.emulateMedia({ colorScheme: null });
  await page.setViewportSize({ width: 1280, height: 800 });
  await client.change('dropCollection(collection: "parts", everything: true) { collection }');
}
