// Collections with types in the tab Explore.

import assert from 'node:assert/strict';
import { assertAccessible } from './axe.mjs';
import { assertFits, counted, focused, until } from './harness.mjs';

const WIDTHS = [390, 820, 1440];

const MEMBERS = {
  name: { type: 'string', minLength: 1, maxLength: 20, description: 'What customers see.' },
  price: { type: 'number', minimum: 0 },
  state: { enum: ['draft', 'published', 1.5, null] },
  added: { type: 'string', format: 'date-time' },
  day: { type: ['string', 'null'], format: 'date' },
  sale: { type: 'boolean' },
  origin: { type: 'string', 'x-reference': { collection: 'countries', as: 'country' } },
  tags: { type: 'array', items: { enum: ['new', 'old'] }, maxItems: 3 },
  size: { type: 'object', properties: { width: { type: 'integer' } }, required: ['width'] },
  names: { type: 'object', additionalProperties: { type: 'string', maxLength: 5 } },
  digits: { type: 'integer' },
};
const SCHEMA = JSON.stringify({ title: 'Product', type: 'object', properties: MEMBERS, required: ['name', 'state'] });
const LAMP = `{
  "name": "Lamp", "price": 19.99, "state": "draft", "added": "2026-11-26T08:30:06Z", "day": null, "sale": true, "origin": "FRA",
  "tags": ["new"], "size": {"width": 10}, "names": {"en": "Lamp"}, "digits": 123456789012345678901
}`;

export async function types({ base, page, check, screenshot, client }) {
  const { read } = client;
  const setType = (collection, schema) =>
    client.query('mutation ($collection: String!, $schema: JSON!) { setCollectionType(collection: $collection, schema: $schema) { state } }', {
      collection,
      schema: JSON.parse(schema),
    });
  const open = async (hash) => {
    await page.goto('about:blank');
    await page.goto(new URL(hash, base).href);
  };
  const row = (name) => page.getByRole('row', { name: new RegExp(`^${name}`) }).first();
  const openForm = async (name, key = 'F2') => {
    await row(name).focus();
    await page.keyboard.press(key);
  };
  const value = (pointer) => page.getByLabel(`New value of ${pointer}`, { exact: true });
  const stored = (pointer, json) => until(async () => (await read('products', 'lamp', pointer)) === json);
  const mutations = [];
  const record = (request) => {
    const body = request.postData();
    const named = /^\{"query":"(?:\\n| )*mutation (\w+)/.exec(body ?? '')?.[1];
    if (named && named !== 'Access') mutations.push(JSON.parse(body));
  };
  page.on('request', record);

  await check('a collection with a type shows its state and its definition', async () => {
    await open('#/c/countries');
    await page.getByText('All documents fit', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Definition' }).click();
    await page.getByLabel('Definition of the type').getByText('"Antarctic"').waitFor();
    await page.getByRole('button', { name: 'Definition' }).click();
  });
  await check('a type is proposed from documents, and what it cannot have is said', async () => {
    await client.store('products', 'lamp', LAMP);
    await client.store('products', 'odd', '{"name": "Odd", "state": "sold", "price": "free"}');
    await open('#/c/products');
    await page.getByRole('button', { name: 'Set a type' }).click();
    const field = page.getByRole('textbox', { name: 'JSON Schema' });
    const proposed = JSON.parse(await field.inputValue());
    assert.deepEqual(proposed.properties.price.type, ['number', 'string']);
    assert.deepEqual(proposed.properties.size.properties.width, { type: 'number' });
    await field.fill('{"type": "object"');
    await page.getByText('A closing brace is missing at line 1').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Try it' }).isDisabled(), true);
    await field.fill('{"type": "object", "uniqueItems": true}');
    await page.getByRole('button', { name: 'Set the type' }).click();
    await page.getByRole('alert').filter({ hasText: 'at "/uniqueItems"' }).waitFor();
    assert.equal(await page.getByText('No type').count(), 1);
  });
  await check('a type is tried on the stored documents, and nothing is changed', async () => {
    await page.getByRole('textbox', { name: 'JSON Schema' }).fill(SCHEMA);
    await page.getByRole('button', { name: 'Try it' }).click();
    await page.getByText('2 places in the first 2 documents do not fit.').waitFor();
    await page.getByRole('list', { name: 'Places that do not fit' }).getByText('/price').waitFor();
    await screenshot('type-tried');
    await assertAccessible(page);
    assert.equal((await typeOf('products')), null);
  });
  await check('a type that some documents do not fit says which, and is checked again once they are corrected', async () => {
    await page.getByRole('button', { name: 'Set the type' }).click();
    await page.getByText('Some documents do not fit').waitFor();
    assert.equal(await focused(page), 'Type');
    await page.getByRole('list', { name: 'Places that do not fit' }).getByText('/state').waitFor();
    for (const colorScheme of ['light', 'dark']) {
      for (const width of WIDTHS) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 800 });
        await assertFits(page);
        await screenshot(`type-failed-${width}-${colorScheme}`);
        await assertAccessible(page);
      }
    }
    await page.emulateMedia({ colorScheme: null });
    await page.setViewportSize({ width: 1280, height: 800 });
    await client.change('deleteDocument(id: "odd", collection: "products") { deleted }');
    await page.getByRole('button', { name: 'Check again' }).click();
    await page.getByText('All documents fit', { exact: true }).waitFor();
    assert.equal(await page.getByRole('list', { name: 'Places that do not fit' }).count(), 0);
  });
  await check('the type is read once for all documents, and those of other collections are not', async () => {
    const read = await counted(page, async () => {
      await open('#/c/products/lamp');
      await row('price').waitFor();
    });
    assert.equal(read.requests, 6); // whether edits are allowed, the list, the type; the document, a level, its values
    assert.ok(read.bytes < 10_000, `${read.bytes} bytes`);
    const next = await counted(page, async () => {
      await page.getByRole('link', { name: '← products' }).click();
      await page.getByRole('link', { name: 'lamp', exact: true }).waitFor();
    });
    assert.equal(next.requests, 3); // names, rows, values
  });
  await check('one of a few values is chosen, with one mutation on the version that is shown', async () => {
    await open('#/c/products/lamp');
    await row('state').waitFor();
    mutations.length = 0;
    await openForm('state');
    assert.deepEqual(await value('/state').locator('option').allInnerTexts(), ['Choose …', 'draft', 'published', '1.5', 'null']);
    await value('/state').selectOption('published');
    await screenshot('typed-choice');
    await page.keyboard.press('Enter');
    await stored('/state', '"published"');
    // The browser tells of a request later than the server stores.
    await page.getByText('Changed /state.').waitFor();
    assert.equal(mutations.length, 1);
    assert.match(mutations[0].variables.ifVersion, /./);
  });
  await check('booleans, dates, times and numbers have inputs of their own', async () => {
    await openForm('sale');
    await value('/sale').selectOption('false');
    await page.keyboard.press('Enter');
    await stored('/sale', 'false');
    await openForm('added');
    assert.equal(await value('/added').getAttribute('type'), 'datetime-local');
    await value('/added').fill('2027-01-02T03:04:05');
    await page.keyboard.press('Enter');
    await stored('/added', '"2027-01-02T03:04:05Z"');
    await openForm('day');
    await page.getByRole('checkbox', { name: 'New value of /day is null' }).uncheck();
    assert.equal(await value('/day').getAttribute('type'), 'date');
    await value('/day').fill('2027-02-28');
    await page.keyboard.press('Enter');
    await stored('/day', '"2027-02-28"');
    await openForm('digits');
    assert.equal(await value('/digits').inputValue(), '123456789012345678901');
    await value('/digits').fill('-0.0');
    await page.keyboard.press('Enter');
    await stored('/digits', '-0.0');
    await openForm('price');
    await value('/price').fill('1,5');
    await page.getByText('A number is expected').waitFor();
    await page.keyboard.press('Escape');
  });
  await check('an error of the type is at its field, and the form keeps what was typed', async () => {
    await openForm('price');
    await page.getByText('number, at least 0').waitFor();
    await value('/price').fill('-5');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').filter({ hasText: 'Expected at least 0, not -5.' }).waitFor();
    assert.equal(await page.getByRole('alert').count(), 1);
    assert.equal(await value('/price').getAttribute('aria-invalid'), 'true');
    assert.equal(await value('/price').inputValue(), '-5');
    await screenshot('typed-error');
    await assertAccessible(page);
    await page.keyboard.press('Escape');
    await openForm('sale');
    assert.equal(await page.getByRole('alert').count(), 0);
    await page.keyboard.press('Escape');
    await openForm('name', 'Delete');
    await page.getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByRole('alert').filter({ hasText: 'Expected the member "name".' }).waitFor();
    await page.keyboard.press('Escape');
    assert.equal(await read('products', 'lamp', '/name'), '"Lamp"');
  });
  await check('a value that its input cannot show is edited as JSON', async () => {
    await client.change('replaceDocument(id: "lamp", collection: "products", path: "/added", document: "2026-11-26T09:30:06.123456+01:00") { id }');
    await page.getByText('"2026-11-26T09:30:06.123456+01:00"').waitFor();
    await openForm('added');
    assert.equal(await value('/added').inputValue(), '2026-11-26T09:30:06.123456+01:00');
    await page.keyboard.press('Escape');
    await openForm('state');
    await page.getByRole('checkbox', { name: 'New value of /state as JSON' }).check();
    await value('/state').fill('1.5');
    await page.keyboard.press('Enter');
    await stored('/state', '1.5');
  });
  await check('a reference is found by the name of the document, and followed', async () => {
    await openForm('origin');
    const found = (text) => page.locator('.reference .about').getByText(text, { exact: true }).waitFor();
    await found('France');
    await value('/origin').fill('germ');
    await found('1 found, such as DEU (Germany)');
    assert.deepEqual(await page.locator('.reference option').evaluateAll((options) => options.map(({ value }) => value)), ['DEU']);
    await value('/origin').fill('XXX');
    await found('No document of countries has this key or name.');
    await value('/origin').fill('DEU');
    await found('Germany');
    await screenshot('typed-reference');
    await assertAccessible(page);
    await page.keyboard.press('Enter');
    await stored('/origin', '"DEU"');
    await page.getByRole('link', { name: 'DEU in countries' }).click();
    await page.getByRole('heading', { name: 'DEU' }).waitFor();
    await page.goBack();
    await row('origin').waitFor();
  });
  await check('new members and elements have the input of their type', async () => {
    await openForm('tags', 'Insert');
    await page.getByLabel('New element of /tags', { exact: true }).selectOption('old');
    await page.keyboard.press('Enter');
    await stored('/tags', '["new","old"]');
    await page.getByText('Inserted element 1 of /tags.').waitFor();
    await openForm('names', 'Insert');
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('de');
    await page.getByLabel('New member of /names', { exact: true }).fill('too long');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').filter({ hasText: 'Expected at most 5 characters' }).waitFor();
    await page.getByLabel('New member of /names', { exact: true }).fill('Licht');
    await page.keyboard.press('Enter');
    await stored('/names', '{"de":"Licht","en":"Lamp"}');
    await page.getByText('Added /names/de.').waitFor();
    await client.change('deleteDocument(id: "lamp", collection: "products", path: "/sale") { deleted }');
    await row('sale').waitFor({ state: 'detached' });
    await openForm('\\$', 'Insert');
    await page.getByRole('combobox', { name: 'Name', exact: true }).fill('sale');
    await page.getByLabel('New member of the document', { exact: true }).selectOption('true');
    await page.keyboard.press('Enter');
    await stored('/sale', 'true');
  });
  await check('a new document has a field for each member, and errors are at their fields', async () => {
    await open('#/c/products');
    await page.getByText('All documents fit', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Insert', exact: true }).click();
    const form = page.getByRole('form', { name: 'New document' });
    const field = (pointer) => form.getByLabel(`Value of ${pointer}`, { exact: true });
    await form.getByLabel('Key').fill('chair');
    await field('/state').selectOption('draft');
    await field('/price').fill('-1');
    await field('/size/width').fill('5.5');
    for (const colorScheme of ['light', 'dark']) {
      for (const width of WIDTHS) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 800 });
        await assertFits(page);
        await screenshot(`typed-insert-${width}-${colorScheme}`);
        await assertAccessible(page);
      }
    }
    await page.emulateMedia({ colorScheme: null });
    await page.setViewportSize({ width: 1280, height: 800 });
    await form.getByRole('button', { name: 'Insert' }).click();
    const group = (name) => form.getByRole('group', { name, exact: false });
    await group(/^price/).getByText('Expected at least 0, not -1.').waitFor();
    await group(/^name/).first().getByText('Expected at least 1 character').waitFor();
    await group(/^width/).getByText('Expected an integer, not 5.5.').waitFor();
    await screenshot('typed-insert-errors');
    await assertAccessible(page);
    await field('/name').fill('Chair');
    await field('/price').fill('12345678901234567890');
    await field('/size/width').fill('5');
    await form.getByRole('button', { name: 'Insert' }).click();
    await page.getByRole('heading', { name: 'chair' }).waitFor();
    assert.equal(
      await read('products', 'chair', ''),
      '{"name":"Chair","price":12345678901234567890,"size":{"width":5},"state":"draft"}',
    );
  });
  await check('fields of the filter come from the type, with their values', async () => {
    await open('#/c/products');
    await page.getByRole('button', { name: 'Filter' }).click();
    const condition = page.getByRole('group', { name: 'Condition' });
    const offered = await page.locator('.filter datalist option').evaluateAll((options) => options.map(({ value }) => value));
    for (const at of ['$.size.width', '$.tags[*]', '$.names.*']) assert.ok(offered.includes(at), offered.join());
    await condition.getByRole('combobox', { name: 'JSONPath' }).fill('$.state');
    await condition.getByLabel('Value').selectOption('1.5');
    await page.getByText('Compared with 1.5.').waitFor();
    await page.getByRole('button', { name: 'Find' }).click();
    await until(async () => (await page.locator('tbody a').allInnerTexts()).join() === 'lamp');
    await screenshot('typed-filter');
    await assertAccessible(page);
  });
  await check('a search inside of strings says that no index serves it', async () => {
    const condition = page.getByRole('group', { name: 'Condition' });
    await condition.getByRole('combobox', { name: 'JSONPath' }).fill('$.name');
    await condition.getByRole('combobox', { name: 'Operator' }).selectOption('contains, any case');
    await condition.getByLabel('Value').fill('HAI');
    await page.getByRole('button', { name: 'Find' }).click();
    await until(async () => (await page.locator('tbody a').allInnerTexts()).join() === 'chair');
    await page.getByText('An index on $.name would serve “begins with”.').waitFor();
  });
  await check('an index is created on the paths of the type', async () => {
    await page.getByRole('button', { name: 'New index' }).click();
    const form = page.getByRole('form', { name: 'New index' });
    await form.getByRole('combobox', { name: 'JSONPath' }).fill('$.size.width');
    await page.getByRole('checkbox', { name: /^Unique/ }).check();
    await assertFits(page);
    await screenshot('new-index');
    await assertAccessible(page);
    await form.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('list', { name: 'Indexes' }).getByText('size_width').waitFor();
    await page.getByRole('list', { name: 'Indexes' }).getByText('unique').waitFor();
  });
  await check('a column is added by its JSONPath', async () => {
    await page.getByText('Columns', { exact: true }).click();
    await page.getByRole('checkbox', { name: '$.price' }).uncheck();
    const field = page.getByRole('textbox', { name: 'JSONPath of another column' });
    await field.fill('$.tags[*]');
    await page.getByText('A path of names and indexes is expected').waitFor();
    await assertAccessible(page);
    await field.fill('$.tags[0]');
    await page.keyboard.press('Enter');
    await page.getByRole('columnheader', { name: 'tags[0]' }).waitFor();
  });
  await check('a type is dropped after a question, and the documents stay', async () => {
    await page.getByRole('button', { name: 'Definition' }).click();
    await page.getByRole('button', { name: 'Drop the type' }).click();
    await page.getByRole('button', { name: 'Drop it and keep the documents' }).click();
    await page.getByText('No type').waitFor();
    assert.equal(await typeOf('products'), null);
    await page.goto(new URL('#/c/products/lamp', base).href);
    await openForm('price');
    assert.equal(await value('/price').evaluate(({ tagName }) => tagName), 'TEXTAREA');
    await page.keyboard.press('Escape');
  });
  await check('a type that another client sets is used once the list is read again', async () => {
    await setType('products', SCHEMA);
    await page.getByRole('button', { name: 'Reload' }).click();
    await until(async () => {
      await openForm('sale');
      const choice = (await value('/sale').evaluate(({ tagName }) => tagName)) === 'SELECT';
      await page.keyboard.press('Escape');
      return choice;
    });
  });
  page.off('request', record);
  await client.change('dropCollection(collection: "products", everything: true) { collection }');

  async function typeOf(name) {
    const { collections } = await client.query('{ collections { name type { state } } }');
    return collections.find((collection) => collection.name === name)?.type ?? null;
  }
}
