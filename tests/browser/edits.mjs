// Edits in the tab Explore.

import assert from 'node:assert/strict';
import { assertAccessible } from './axe.mjs';
import { until } from './harness.mjs';

export async function edits({ base, page, check, screenshot, client }) {
  const { read } = client;
  await client.store('edited', 'one', '{"count": 1, "list": [1, 2, 3], "name": "Ada", "note": null, "nested": {"x": 1}}');
  await page.goto('about:blank');
  await page.goto(new URL('#/c/edited/one', base).href);
  const row = (name) => page.getByRole('row', { name: new RegExp(`^${name}`) });
  const openForm = async (name, key) => {
    await row(name).first().focus();
    await page.keyboard.press(key);
  };
  const mutations = [];
  page.on('request', (request) => {
    const body = request.postData();
    const named = /^\{"query":"(?:\\n| )*mutation (\w+)/.exec(body ?? '')?.[1];
    if (named && named !== 'Access') mutations.push(JSON.parse(body)); // `Access` changes nothing
  });

  await check('a number of any length is stored as it is typed, with one mutation on the version that is shown', async () => {
    await row('count').waitFor();
    await openForm('count', 'F2');
    await page.getByRole('textbox', { name: 'New value of /count' }).fill('-123456789012345678901234567890');
    await screenshot('editing');
    await assertAccessible(page);
    await page.keyboard.press('Enter');
    await page.getByText('Changed /count.').waitFor();
    assert.equal(await read('edited', 'one', '/count'), '-123456789012345678901234567890');
    assert.equal(mutations.length, 1);
    assert.match(mutations[0].variables.ifVersion, /./);
    await page.getByText('-123456789012345678901234567890', { exact: true }).waitFor();
  });
  await check('-0.0 keeps its sign', async () => {
    await openForm('count', 'Enter');
    await page.getByRole('textbox', { name: 'New value of /count' }).fill('-0.0');
    await page.keyboard.press('Enter');
    await until(async () => (await read('edited', 'one', '/count')) === '-0.0');
  });
  await check('the last edit is undone', async () => {
    // The change can be shown, as another client's is, before its own response closes the form.
    await page.getByRole('textbox', { name: 'New value of /count' }).waitFor({ state: 'hidden' });
    await page.getByText('-0.0', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('The last edit is undone.').waitFor();
    assert.equal(await read('edited', 'one', '/count'), '-123456789012345678901234567890');
  });
  await check('what is no JSON says where, and is not sent', async () => {
    const before = mutations.length;
    await openForm('count', 'F2');
    await page.getByRole('textbox', { name: 'New value of /count' }).fill('[1, 2');
    await page.getByText('A closing bracket is missing at line 1').waitFor();
    await page.keyboard.press('Enter');
    assert.equal(mutations.length, before);
    await page.keyboard.press('Escape');
    await until(() => page.evaluate(() => document.activeElement?.getAttribute('role') === 'row'));
  });
  await check('a string is edited without quotation marks', async () => {
    await openForm('name', 'F2');
    await page.getByRole('textbox', { name: 'New value of /name' }).fill('Grace "Amazing" Hopper');
    await page.keyboard.press('Enter');
    await until(async () => (await read('edited', 'one', '/name')) === '"Grace \\"Amazing\\" Hopper"');
  });
  await check('a member with any name is added, and never replaces one', async () => {
    for (const name of ['', '__proto__', 'a/b~"👩🏽\u202e']) {
      await openForm('\\$', 'Insert');
      await page.getByRole('textbox', { name: 'Name' }).fill(name);
      await page.getByRole('textbox', { name: 'New member of the document' }).fill('new');
      await page.keyboard.press('Enter');
      const pointer = `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      await until(async () => (await read('edited', 'one', pointer)) === '"new"');
      await page.getByText(`Added ${pointer}.`).waitFor();
    }
    await openForm('\\$', 'Insert');
    await page.getByRole('textbox', { name: 'Name' }).fill('note');
    await page.getByRole('textbox', { name: 'New member of the document' }).fill('new');
    await page.keyboard.press('Enter');
    await page.getByText('Stored now').waitFor();
    assert.equal(await read('edited', 'one', '/note'), 'null');
    await page.getByRole('button', { name: 'Keep the stored value' }).click();
    await page.keyboard.press('Escape');
  });
  await check('an element is inserted, removed and comes back', async () => {
    await openForm('list', 'Insert');
    await page.getByRole('spinbutton', { name: 'Index' }).fill('1');
    await page.getByRole('textbox', { name: 'New element of /list' }).fill('x');
    await page.keyboard.press('Enter');
    await until(async () => (await read('edited', 'one', '/list')) === '[1,"x",2,3]');
    await openForm('list', 'ArrowRight');
    await openForm('1 "x"', 'Delete');
    await page.keyboard.press('Enter');
    await until(async () => (await read('edited', 'one', '/list')) === '[1,2,3]');
    await page.getByRole('button', { name: 'Undo' }).click();
    await until(async () => (await read('edited', 'one', '/list')) === '[1,"x",2,3]');
  });
  await check('a removed object comes back', async () => {
    await openForm('nested', 'Delete');
    await page.getByRole('button', { name: 'Remove', exact: true }).click();
    await until(async () => (await read('edited', 'one', '/nested')) === undefined);
    await row('nested').waitFor({ state: 'detached' });
    await page.getByText('Removed /nested.').waitFor();
    await page.keyboard.press('Control+z');
    await until(async () => (await read('edited', 'one', '/nested')) === '{"x":1}');
  });
  await check('edits that are sent while another one is stored are stored after it', async () => {
    const answers = [];
    const hold = async (route) => {
      const holds = answers.length < 2 && route.request().postData()?.includes('mutation ');
      if (holds) await new Promise((resolve) => answers.push(resolve));
      await route.continue();
    };
    await page.route('**/graphql', hold);
    await openForm('count', 'F2');
    await page.getByRole('textbox', { name: 'New value of /count' }).fill('5');
    await page.keyboard.press('Enter');
    await until(() => answers.length === 1);
    await openForm('name', 'F2');
    await page.getByRole('textbox', { name: 'New value of /name' }).fill('Grace');
    await page.keyboard.press('Enter');
    await openForm('note', 'Delete');
    await page.keyboard.press('Enter');
    await page.getByText('Storing …').waitFor();
    assert.equal(answers.length, 1);
    answers[0]();
    await until(() => answers.length === 2);
    assert.equal(await read('edited', 'one', '/count'), '5');
    answers[1]();
    await page.getByText('Removed /note.').waitFor();
    assert.equal(await read('edited', 'one', '/name'), '"Grace"');
    assert.equal(await read('edited', 'one', '/note'), undefined);
    await page.keyboard.press('Control+z');
    await until(async () => (await read('edited', 'one', '/note')) === 'null');
    assert.equal(await page.getByRole('textbox').count(), 0);
    await page.unroute('**/graphql', hold);
  });
  await check('a change of another place does not reject an edit', async () => {
    await openForm('count', 'F2');
    await client.change('replaceDocument(id: "one", collection: "edited", path: "/note", document: "elsewhere") { id }');
    await page.getByRole('textbox', { name: 'New value of /count' }).fill('7');
    await page.keyboard.press('Enter');
    await until(async () => (await read('edited', 'one', '/count')) === '7');
    assert.equal(await read('edited', 'one', '/note'), '"elsewhere"');
  });
  await check('a change of the same place shows both values', async () => {
    await page.getByText('Changed /count.').waitFor();
    await openForm('count', 'F2');
    await client.change('replaceDocument(id: "one", collection: "edited", path: "/count", document: 8) { id }');
    await page.getByRole('textbox', { name: 'New value of /count' }).fill('9');
    await page.keyboard.press('Enter');
    const notice = page.getByRole('alert');
    await notice.waitFor();
    assert.match(await notice.innerText(), /Your edit\s+9\s+Stored now\s+8/);
    assert.equal(await read('edited', 'one', '/count'), '8');
    await screenshot('mismatch');
    await assertAccessible(page);
    await notice.getByRole('button', { name: 'Store mine' }).click();
    await until(async () => (await read('edited', 'one', '/count')) === '9');
  });
  await check('a document is inserted, removed and comes back', async () => {
    await page.goto(new URL('#/c/edited', base).href);
    await page.getByRole('button', { name: 'Insert' }).click();
    await page.getByRole('textbox', { name: 'Key' }).fill('two');
    await page.getByRole('textbox', { name: 'New document' }).fill('{"digits": 12345678901234567890}');
    await page.keyboard.press('Enter');
    await row('digits').waitFor();
    await openForm('\\$', 'Delete');
    await page.getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByText('There is no document with this key.').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await row('digits').waitFor();
    assert.equal(await read('edited', 'two', ''), '{"digits":12345678901234567890}');
  });
  await client.change('dropCollection(collection: "edited", everything: true) { collection }');
}
