// Files that are imported.

import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { assertAccessible } from './axe.mjs';
import { assertFits } from './harness.mjs';

const WIDTHS = [390, 820, 1440];

export async function imports({ base, page, check, screenshot, client }) {
  const folder = await mkdtemp(path.join(tmpdir(), 'phyllo-import-'));
  const { read } = client;
  const panel = page.getByRole('region', { name: 'Import' });
  const field = (name) => panel.getByRole('textbox', { name });
  const start = () => panel.getByRole('button', { name: 'Import', exact: true }).click();
  const status = panel.getByRole('status');
  const alert = panel.getByRole('alert');
  const close = () => panel.getByRole('button', { name: 'Close' }).click();
  const count = async (collection) =>
    (await client.query('{ collections { name count } }')).collections.find(({ name }) => name === collection)?.count ?? 0;

  /** Chooses a file with this content in the panel. */
  async function choose(name, content) {
    const file = path.join(folder, name);
    await writeFile(file, content);
    await page.getByRole('button', { name: 'Import a file' }).click();
    await panel.locator('input[type=file]').setInputFiles(file);
  }
  async function drop(files) {
    const transfer = await page.evaluateHandle((files) => {
      const transfer = new DataTransfer();
      files.forEach(([name, text]) => transfer.items.add(new File([text], name)));
      return transfer;
    }, files);
    await page.dispatchEvent('body', 'dragover', { dataTransfer: transfer });
    await page.getByText('Drop a file to import it.').waitFor();
    await page.dispatchEvent('body', 'drop', { dataTransfer: transfer });
  }
  const mutations = [];
  const record = (request) => {
    const body = request.postData();
    if (body?.startsWith('{"query":"mutation Import')) mutations.push(body.length);
  };
  page.on('request', record);
  await page.goto('about:blank');
  await page.goto(new URL('#/', base).href);
  await page.getByRole('link', { name: 'countries 40' }).waitFor();

  await check('lines are imported in batches, with their keys and every digit of their numbers', async () => {
    const lines = Array.from({ length: 450 }, (_, index) => `{"doc_id": ${index === 7 ? '9007199254740993' : index}, "n": -0.0, "digits": 123456789012345678901234567890}`);
    await choose('many.ndjson', `${lines.join('\r\n')}\n\n`);
    assert.equal(await field('Collection').inputValue(), 'many');
    await field('Collection').fill('imported');
    await start();
    await panel.getByText('450 documents imported.').waitFor();
    assert.equal(mutations.splice(0).length, 3);
    assert.equal(await read('imported', '9007199254740993', '/digits'), '123456789012345678901234567890');
    assert.equal(await read('imported', '449', '/n'), '-0.0');
    await page.getByRole('link', { name: 'imported 450' }).waitFor();
    await panel.getByRole('link', { name: 'Open imported' }).click();
    await page.getByRole('link', { name: '0', exact: true }).waitFor();
  });
  await check('a dropped array gets generated keys, and importing it again stores nothing twice', async () => {
    for (const time of ['first', 'second']) {
      await drop([['list.json', '[{"a": 1},\n {"a": [1.50, "x"]}, null]']]);
      await field('Collection').fill('dropped');
      await start();
      await panel.getByText('3 documents imported.').waitFor();
      assert.equal(await count('dropped'), 3, time);
      await close();
    }
    assert.equal(await read('dropped', 'list-3', ''), 'null');
    assert.equal(await read('dropped', 'list-2', '/a/1'), '"x"');
  });
  await check('a generated key never replaces another document', async () => {
    await drop([['list.json', '[{"a": 1}, {"a": "other"}, 5]']]);
    await field('Collection').fill('dropped');
    await start();
    await alert.filter({ hasText: 'Line 1, column 12 (document 2): Another document is stored under the generated key list-2' }).waitFor();
    await panel.getByText('The first document is stored and stays.').waitFor();
    assert.equal(await read('dropped', 'list-2', '/a/1'), '"x"');
    await close();
  });
  await check('a mistake says its line and document, and what was before it is stored', async () => {
    await choose('broken.ndjson', `${'{"a": 1}\n'.repeat(250)}{"a": 1,\n{"a": 2}\n`);
    await field('Collection').fill('broken');
    await start();
    await alert.filter({ hasText: 'Line 251, column 9 (document 251): ' }).waitFor();
    await panel.getByText('The first 250 documents are stored and stay.').waitFor();
    assert.equal(await count('broken'), 250);
    await screenshot('import-mistake');
    await assertAccessible(page);
    await close();
  });
  await check('a document that the server rejects is named, and the ones before it are stored', async () => {
    await choose('surrogate.ndjson', `${'{"a": 1}\n'.repeat(20)}{"a": "\\ud800"}\n{"a": 2}\n`);
    await field('Collection').fill('rejected');
    await start();
    await alert.filter({ hasText: 'Line 21, column 1 (document 21): ' }).waitFor();
    assert.equal(await count('rejected'), 20);
    await close();
  });
  await check('keys of one file differ, and a named member is the key', async () => {
    await choose('codes.json', '[{"code": "FR", "v": 1}, {"code": "42"}, {"code": "FR", "v": 2}]');
    await field('Collection').fill('codes');
    await field('Member with the key').fill('code');
    await panel.getByText('The member is written as a JSON Pointer').waitFor();
    assert.equal(await panel.getByRole('button', { name: 'Import', exact: true }).isDisabled(), true);
    await field('Member with the key').fill('/code');
    await start();
    await alert.filter({ hasText: 'Line 1, column 42 (document 3): Document 1 has the same key, FR.' }).waitFor();
    assert.equal(await read('codes', 'FR', '/v'), '1');
    assert.equal(await read('codes', '"42"', ''), '{"code":"42"}');
    await panel.getByRole('button', { name: 'Import again' }).click();
    await field('Member with the key').fill('/v');
    await start();
    await alert.filter({ hasText: '(document 2): The member for the key is missing' }).waitFor();
    await close();
  });
  await check('an export, a single document and a file that is no text', async () => {
    await drop([['export.ndjson', '{"id":"a/b#%","document":{"x":1}}\n{"id":"\\"7\\"","document":[]}\n'], ['other.json', '{}']]);
    await panel.getByText('Files are imported one at a time.').waitFor();
    await field('Collection').fill('exported');
    await start();
    await panel.getByText('2 documents imported.').waitFor();
    assert.equal(await read('exported', 'a/b#%', '/x'), '1');
    assert.equal(await read('exported', '"7"', ''), '[]');
    await close();
    await drop([['one.json', '{\n "a": 1\n}\n']]);
    await field('Collection').fill('exported');
    await start();
    await panel.getByText('1 document imported.').waitFor();
    assert.equal(await read('exported', 'one', ''), '{"a":1}');
    await close();
    await choose('image.json', Buffer.from([0x22, 0xff, 0xfe, 0x22]));
    await start();
    await alert.filter({ hasText: 'The file is no text in UTF-8.' }).waitFor();
    await panel.getByText('Nothing was stored.').waitFor();
    await close();
  });
  await check('an import reads no further than its batches, shows its progress, ignores other files, and is canceled', async () => {
    let send;
    const sending = new Promise((resolve) => (send = resolve));
    const isApi = (url) => url.pathname.endsWith('/graphql');
    let batches = 0;
    await page.route(isApi, async (route) => {
      const importing = route.request().postData()?.includes('mutation Import');
      if (importing && ++batches === 2) await sending;
      return route.continue();
    });
    mutations.length = 0;
    await choose('long.ndjson', `{"a": "${'x'.repeat(20_000)}"}\n`.repeat(600));
    await field('Collection').fill('canceled');
    await start();
    const said = await panel.getByText(/^53 documents stored, [\d.]+ MiB of 11.4 MiB read\.$/).innerText();
    assert.ok(Number(/stored, ([\d.]+)/.exec(said)[1]) < 5, said);
    await panel.getByRole('progressbar').waitFor();
    await screenshot('import-running');
    await assertAccessible(page);
    await drop([['other.json', '{}']]);
    await panel.getByRole('button', { name: 'Cancel' }).click();
    await panel.getByRole('button', { name: 'Stopping …' }).waitFor();
    send();
    await panel.getByText('Canceled. The first 106 documents are stored and stay.').waitFor();
    assert.equal(mutations.length, 2);
    assert.equal(await count('canceled'), 106);
    await page.unroute(isApi);
    await panel.getByRole('button', { name: 'Import again' }).click();
    await start();
    await panel.getByText('600 documents imported.').waitFor();
    assert.equal(await count('canceled'), 600);
    await close();
  });
  for (const colorScheme of ['light', 'dark']) {
    for (const width of WIDTHS) {
      await check(`the import fits ${width} pixels and is accessible, ${colorScheme}`, async () => {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 800 });
        await page.goto(new URL('#/c/countries', base).href);
        await page.getByRole('main').getByRole('button', { name: 'Import', exact: true }).click();
        assert.equal(await field('Collection').inputValue(), 'countries');
        await panel.locator('input[type=file]').waitFor();
        await assertFits(page);
        await screenshot(`import-${width}-${colorScheme}`);
        await assertAccessible(page);
        await panel.getByRole('button', { name: 'Cancel' }).click();
      });
    }
  }
  page.off('request', record);
  await page.emulateMedia({ colorScheme: null });
  await page.setViewportSize({ width: 1280, height: 800 });
  for (const name of ['imported', 'dropped', 'broken', 'rejected', 'codes', 'exported', 'canceled']) {
    await client.change(`dropCollection(collection: "${name}", everything: true) { collection }`);
  }
  await rm(folder, { recursive: true });
}
