// What access rules forbid, on a server with the rules of rules.toml.

import assert from 'node:assert/strict';
import { assertAccessible } from './axe.mjs';
import { assertFits, clientOf, until } from './harness.mjs';
import { tokenOf } from './tokens.mjs';

const WIDTHS = [390, 820, 1440];

export async function forbidden({ page, check, screenshot }, { ruled, secret, readOnlyToken }) {
  const operator = tokenOf(secret, { sub: 'operator', role: 'operator' });
  const client = clientOf(ruled, operator);
  await client.store('open', 'one', '{"area": 1, "nested": {"x": 2}}');
  await client.store('hidden', 'one', '{"a": 1}');
  await client.store('articles', 'shown', '{"status": "published", "words": 2}');
  await client.store('articles', 'longer', '{"status": "published", "words": 9}');
  await client.store('articles', 'draft', '{"status": "draft", "words": 1}');
  await client.store('people', 'ada', '{"profile": {"name": "Ada", "list": [1, 2]}, "salary": 5}');
  await client.store('people', 'bob', '{"profile": {"name": "Bob"}, "salary": 6}');
  await client.store('products', 'tea', '{"name": "Tea", "cost": 4, "reviews": {"42": "good"}}');

  /** Opens an address with a token; without one, as everybody. */
  const open = async (token, hash) => {
    await page.goto('about:blank');
    await page.goto(ruled);
    await page.evaluate((token) => sessionStorage.setItem('phyllo:token', token), token ?? '');
    await page.goto('about:blank');
    await page.goto(new URL(hash, ruled).href);
  };
  const user = (sub) => tokenOf(secret, { sub });
  const forbids = (what) => page.getByRole('alert').filter({ hasText: `The access rules do not allow this: no rule allows this request to ${what}` });
  const row = (name) => page.getByRole('row', { name: new RegExp(`^${name}`) });
  const press = async (name, key) => {
    await row(name).first().focus();
    await page.keyboard.press(key);
  };
  const keys = () => page.locator('tbody a').allInnerTexts();

  await check('only collections that may be listed are, and a hidden one says what is forbidden', async () => {
    await open(user('ada'), '#/');
    const list = page.getByRole('navigation', { name: 'Collections' });
    await list.getByRole('link', { name: 'open 1' }).waitFor();
    assert.equal(await list.getByRole('link').count(), 1);
    await page.getByText('Open by name').click();
    await page.getByRole('textbox', { name: 'Collection' }).fill('hidden');
    await page.getByRole('button', { name: 'Open', exact: true }).click();
    await page.getByText('The server does not list this collection').waitFor();
    await forbids('list the documents of collection "hidden"').waitFor();
    assert.equal(await page.getByText('Read-only', { exact: true }).count(), 0);
    await screenshot('forbidden-collection');
    await assertAccessible(page);
  });
  await check('a collection that does not exist opens by its name', async () => {
    await open(operator, '#/c/nothing');
    await page.getByText('The server does not list this collection').waitFor();
    await page.getByText('0 shown').waitFor();
  });
  await check('who has no token and no right sees that nothing is listed', async () => {
    await open(undefined, '#/');
    await page.getByText('The store is empty, or the access rules of the server list no collection to you.').waitFor();
    await page.getByRole('button', { name: 'Store the sample data' }).click();
    await page.getByRole('alert').filter({ hasText: 'The access rules do not allow this' }).waitFor();
  });
  await check('a collection whose documents are forbidden shows their keys', async () => {
    await open(user('ada'), '#/c/people');
    await page.getByRole('link', { name: 'bob', exact: true }).waitFor();
    assert.deepEqual(await keys(), ['ada', 'bob']);
    assert.equal(await page.getByRole('alert').count(), 0);
  });
  await check('a column shows what is allowed of documents that are forbidden as a whole', async () => {
    await open(user('ada'), '#/c/products');
    await page.getByRole('link', { name: 'tea', exact: true }).waitFor();
    await page.getByText('Columns', { exact: true }).click();
    const field = page.getByRole('textbox', { name: 'JSONPath of another column' });
    await field.fill('$.name');
    await page.keyboard.press('Enter');
    await page.getByRole('cell', { name: '"Tea"' }).waitFor();
    await field.fill('$.cost');
    await page.keyboard.press('Enter');
    await forbids('read "/cost" of the documents of collection "products"').waitFor();
    await page.getByRole('link', { name: 'tea', exact: true }).waitFor();
    await page.getByRole('checkbox', { name: '$.cost' }).click(); // it leaves: no document that was sampled has it
    await forbids('').waitFor({ state: 'detached' });
    await page.getByRole('cell', { name: '"Tea"' }).waitFor();
  });
  await check('documents that a condition hides are not there, and the others are found without a plan', async () => {
    await open(user('ada'), '#/c/articles');
    await page.getByRole('link', { name: 'longer', exact: true }).waitFor();
    assert.deepEqual(await keys(), ['longer', 'shown']);
    await page.getByRole('button', { name: 'words', exact: true }).click();
    await until(async () => (await keys()).join() === 'shown,longer');
    assert.equal(await page.getByRole('alert').count(), 0);
    await page.goto(new URL('#/c/articles/draft', ruled).href);
    await page.getByText('There is no document with this key.').waitFor();
    await page.goto(new URL('#/c/articles/shown', ruled).href);
    await row('words 2').waitFor();
  });
  await check('a forbidden document says so, and a part opens by its path', async () => {
    await open(user('ada'), '#/c/people/ada');
    await forbids('read document ada of collection "people"').waitFor();
    assert.equal(await page.getByRole('button', { name: 'JSONPath' }).count(), 0);
    await page.getByRole('textbox', { name: 'Path' }).fill('profile');
    await page.keyboard.press('Enter');
    assert.equal(await page.getByRole('textbox', { name: 'Path' }).getAttribute('aria-invalid'), 'true');
    await page.getByRole('textbox', { name: 'Path' }).fill('/profile');
    await page.keyboard.press('Enter');
    await row('name "Ada"').waitFor();
    await page.getByText('Not live: the access rules do not allow it').waitFor();
    await page.getByRole('navigation', { name: 'Path' }).getByRole('link', { name: '$' }).click();
    await forbids('read document ada').waitFor();
    await page.goto(new URL('#/c/people/bob/%2Fprofile', ruled).href);
    await forbids('read "/profile" of document bob').waitFor();
  });
  await check('a part that may be written is edited, and an edit is undone', async () => {
    await open(user('ada'), '#/c/people/ada/%2Fprofile');
    await press('name', 'F2');
    await page.getByRole('textbox', { name: 'New value of /profile/name' }).fill('Grace');
    await page.keyboard.press('Enter');
    await row('name "Grace"').waitFor();
    await press('profile', 'Insert');
    await page.getByRole('textbox', { name: 'Name' }).fill('born');
    await page.getByRole('textbox', { name: 'New member of /profile' }).fill('1906');
    await page.keyboard.press('Enter');
    await row('born "1906"').waitFor();
    await press('name', 'Delete');
    await page.getByRole('button', { name: 'Remove', exact: true }).click();
    await row('name').waitFor({ state: 'detached' });
    await page.getByText('Removed /profile/name.').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await row('name "Grace"').waitFor();
    await press('profile', 'Delete');
    await page.getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByText('Nothing is stored at this path.').waitFor();
    await page.getByText('Removed /profile.').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await row('name "Grace"').waitFor();
    assert.equal(await client.read('people', 'ada', ''), '{"profile":{"born":"1906","list":[1,2],"name":"Grace"},"salary":5}');
  });
  await check('a type is shown with its collection, and validates where it is hidden', async () => {
    const set = 'mutation ($collection: String!, $schema: JSON!) { setCollectionType(collection: $collection, schema: $schema) { state } }';
    const name = { type: 'string', minLength: 2 };
    await client.query(set, { collection: 'open', schema: { title: 'Place', type: 'object', properties: { area: { type: 'number' } } } });
    await client.query(set, { collection: 'people', schema: { type: 'object', properties: { profile: { type: 'object', properties: { name } } } } });
    await open(user('ada'), '#/c/open');
    await page.getByText('All documents fit', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Definition' }).click();
    await page.getByLabel('Definition of the type').getByText('"Place"').waitFor();
    await page.getByRole('button', { name: 'Change the type' }).click();
    await page.getByRole('button', { name: 'Set the type' }).click();
    await forbids('').waitFor();
    await screenshot('forbidden-type');
    await assertAccessible(page);
    await open(user('ada'), '#/c/people/ada/%2Fprofile');
    await press('name', 'F2');
    await page.getByRole('textbox', { name: 'New value of /profile/name' }).fill('A');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').filter({ hasText: 'Expected at least 2 characters' }).waitFor();
    assert.equal(await page.getByText('string, at least 2 characters').count(), 0);
    await page.keyboard.press('Escape');
    assert.equal(await client.read('people', 'ada', '/profile/name'), '"Grace"');
  });
  await check('a name of digits is opened by a list, because a pointer can mean an element', async () => {
    await open(user('42'), '#/c/products/tea/%2Freviews%2F42');
    await forbids('read "/reviews/42" of document tea').waitFor();
    await page.getByRole('textbox', { name: 'Path' }).fill('["reviews", "42"]');
    await page.keyboard.press('Enter');
    await row('42 "good"').waitFor();
    await press('42', 'F2');
    await page.getByRole('textbox', { name: 'New value of /reviews/42' }).fill('better');
    await page.keyboard.press('Enter');
    await row('42 "better"').waitFor();
  });
  await check('a part that does not exist and may be written is stored', async () => {
    await open(user('eve'), '#/c/products/tea/%2Freviews%2Feve');
    await page.getByRole('button', { name: 'Store a value' }).click();
    await page.getByRole('textbox', { name: 'New value of /reviews/eve' }).fill('new');
    await page.keyboard.press('Enter');
    await row('eve "new"').waitFor();
    assert.equal(await client.read('products', 'tea', '/reviews'), '{"42":"better","eve":"new"}');
  });
  await check('a forbidden edit says so, and leaves what was typed and everything else', async () => {
    await open(user('ada'), '#/c/open/one');
    await press('area', 'F2');
    const field = page.getByRole('textbox', { name: 'New value of /area' });
    await field.fill('7');
    await page.keyboard.press('Enter');
    await forbids('write "/area" of document one of collection "open"').waitFor();
    assert.equal(await field.inputValue(), '7');
    await page.getByRole('button', { name: 'Edit nested' }).waitFor();
    await screenshot('forbidden-edit');
    await assertAccessible(page);
  });
  await check('a token that is read-only offers nothing, whatever the rules allow', async () => {
    await open(readOnlyToken, '#/c/open/one');
    await row('area 1').waitFor();
    await page.getByText('Read-only', { exact: true }).waitFor();
    assert.equal(await page.getByRole('button', { name: /^(Edit|Add to|Remove|Import)/ }).count(), 0);
    const transfer = await page.evaluateHandle(() => {
      const transfer = new DataTransfer();
      transfer.items.add(new File(['{}'], 'one.json'));
      return transfer;
    });
    await page.dispatchEvent('body', 'drop', { dataTransfer: transfer });
    await page.getByText('Only reading is allowed here, so nothing can be imported.').waitFor();
    await page.getByRole('region', { name: 'Import' }).getByRole('button', { name: 'Close' }).click();
  });
  // A right to read covers everything below its place, so that no rules forbid a level of a document that they
  // allow: they must change meanwhile. The error is put into the response.
  await check('a level that is forbidden meanwhile leaves everything else as it is', async () => {
    await open(user('ada'), '#/c/open/one');
    await row('nested').waitFor();
    const isApi = (url) => url.pathname.endsWith('/graphql');
    await page.route(isApi, (route) => {
      if (!route.request().postData()?.includes('query Level')) return route.continue();
      const error = { message: 'no rule allows this request to read "/nested"', path: ['document'], extensions: { code: 'FORBIDDEN' } };
      return route.fulfill({ json: { data: null, errors: [error] } });
    });
    await press('nested', 'ArrowRight');
    await forbids('read "/nested"').waitFor();
    await press('nested', 'ArrowLeft');
    await forbids('read "/nested"').waitFor({ state: 'detached' });
    await row('area 1').waitFor();
    await page.unroute(isApi);
  });
  for (const colorScheme of ['light', 'dark']) {
    for (const width of WIDTHS) {
      await check(`a forbidden document fits ${width} pixels and is accessible, ${colorScheme}`, async () => {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 800 });
        await open(user('ada'), '#/c/people/bob');
        await forbids('read document bob').waitFor();
        await assertFits(page);
        await screenshot(`forbidden-${width}-${colorScheme}`);
        await assertAccessible(page);
      });
    }
  }
  await page.evaluate(() => sessionStorage.clear());
  await page.emulateMedia({ colorScheme: null });
  await page.setViewportSize({ width: 1280, height: 800 });
}
