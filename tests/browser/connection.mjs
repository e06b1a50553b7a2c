// Connections that fail while the page reads or writes. The browser fails the requests.

import assert from 'node:assert/strict';
import { assertAccessible } from './axe.mjs';
import { until } from './harness.mjs';

export async function connection({ base, page, check, screenshot, client }) {
  await client.store('lost', 'one', '{"count": 1, "nested": {"x": 1}}');
  const isApi = (url) => url.pathname.endsWith('/graphql');
  const sent = [];
  /** While `body` runs, the connection of each request that `fails` accepts is lost. */
  async function losing(fails, body) {
    sent.length = 0;
    await page.route(isApi, (route) => {
      const name = /(?:query|mutation) (\w+)/.exec(route.request().postDataJSON().query)[1];
      sent.push(name);
      return fails(name, sent.filter((other) => other === name).length) ? route.abort('connectionreset') : route.continue();
    });
    try {
      await body();
    } finally {
      await page.unroute(isApi);
    }
  }
  const times = (name) => sent.filter((other) => other === name).length;
  const open = async (hash) => {
    await page.goto('about:blank');
    await page.goto(new URL(hash, base).href);
  };
  const alert = page.getByRole('alert').filter({ hasText: 'The connection to the server was lost.' });
  const again = page.getByRole('button', { name: 'Try again' });

  await check('a query is sent a second time after a lost connection', () =>
    losing((name, attempt) => attempt === 1 && name !== 'Access', async () => {
      await open('#/c/lost/one');
      await page.getByRole('row', { name: /^count 1/ }).waitFor();
      assert.equal(await page.getByRole('alert').count(), 0);
      assert.equal(times('Collections'), 2);
    }));
  await check('a query that fails twice is sent again when it is asked for', async () => {
    await losing((name) => name === 'Root', async () => {
      await open('#/c/lost/one');
      await alert.waitFor();
      assert.equal(times('Root'), 2);
      await screenshot('connection-lost');
      await assertAccessible(page);
    });
    await again.click();
    await page.getByRole('row', { name: /^count 1/ }).waitFor();
    assert.equal(await alert.count(), 0);
  });
  await check('a mutation is sent once, and what was typed stays', async () => {
    const field = page.getByRole('textbox', { name: 'New value of /count' });
    await losing((name) => name === 'Replace', async () => {
      await page.getByRole('row', { name: /^count 1/ }).focus();
      await page.keyboard.press('F2');
      await field.fill('2');
      await page.keyboard.press('Enter');
      await page.getByText('The change may be stored or not.').waitFor();
      await page.waitForTimeout(1_000); // longer than the pause before a query is sent again
      assert.equal(times('Replace'), 1);
    });
    assert.equal(await field.inputValue(), '2');
    await field.press('Enter');
    await page.getByText('Changed /count.').waitFor();
    assert.equal(await client.read('lost', 'one', '/count'), '2');
  });
  await check('a document that cannot be read again stays as it is shown, with its open levels', async () => {
    await page.getByRole('row', { name: /^nested/ }).focus();
    await page.keyboard.press('ArrowRight');
    const inner = page.getByRole('row', { name: /^x / });
    await inner.getByText('1', { exact: true }).waitFor();
    await page.locator('.live-status.live').waitFor();
    await losing(() => true, async () => {
      await client.change('replaceDocument(id: "one", collection: "lost", path: "/nested/x", document: 5) { id }');
      await alert.waitFor();
      await inner.getByText('1', { exact: true }).waitFor();
    });
    await again.click();
    await inner.getByText('5', { exact: true }).waitFor();
    assert.equal(await alert.count(), 0);
  });
  await check('a list and a table that cannot be read again stay as they are shown', async () => {
    await open('#/c/countries');
    await page.getByRole('link', { name: 'AND', exact: true }).waitFor();
    const main = page.getByRole('main');
    await losing(() => true, async () => {
      await page.getByRole('button', { name: 'Reload' }).click();
      await page.getByRole('navigation', { name: 'Collections' }).getByRole('alert').waitFor();
      await page.getByRole('link', { name: 'countries 40' }).waitFor();
      await page.getByRole('button', { name: 'area', exact: true }).click();
      await main.getByRole('alert').waitFor();
      await page.getByRole('link', { name: 'AND', exact: true }).waitFor();
      assert.equal(times('Rows'), 2);
      await screenshot('connection-lost-table');
    });
    await main.getByRole('button', { name: 'Try again' }).click();
    await until(async () => (await page.locator('tbody a').first().innerText()) === 'MCO');
    assert.equal(await main.getByRole('alert').count(), 0);
  });
  await client.change('dropCollection(collection: "lost", everything: true) { collection }');
}
