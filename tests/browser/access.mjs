// A server that requires a token, and is empty.

import assert from 'node:assert/strict';
import { assertAccessible } from './axe.mjs';
import { assertFits } from './harness.mjs';

export async function access({ page, check, screenshot }, { guarded, token, readOnlyToken }) {
  const enter = async (text) => {
    await page.getByLabel('Token', { exact: true }).fill(text);
    await page.keyboard.press('Enter');
  };
  await page.setViewportSize({ width: 390, height: 800 });
  await page.goto(guarded);
  await page.evaluate(() => (sessionStorage.clear(), localStorage.clear()));
  await check('a server that requires a token asks for it', async () => {
    await page.reload();
    await page.getByRole('heading', { name: 'This server requires a token' }).waitFor();
    await assertFits(page);
    await screenshot('token-asked');
    await assertAccessible(page);
    await enter('wrong');
    await page.getByText('The server did not accept the token.').waitFor();
  });
  await page.setViewportSize({ width: 1280, height: 800 });
  await check('an empty store offers nothing to a token that allows reading only', async () => {
    await enter(readOnlyToken);
    await page.getByRole('heading', { name: 'No collections' }).waitFor();
    await page.getByText('Read-only', { exact: true }).waitFor();
    assert.equal(await page.getByRole('main').getByRole('button').count(), 0);
  });
  await check('GraphiQL on an empty store offers the sample data, or to open without data', async () => {
    await page.getByRole('button', { name: 'Token ✓' }).click();
    await enter(token);
    await page.evaluate(() => localStorage.clear());
    await page.goto('about:blank');
    await page.goto(new URL('#/graphiql', guarded).href);
    await page.getByRole('button', { name: 'Store the sample data' }).waitFor();
    for (const width of [390, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      await assertFits(page);
      await screenshot(`empty-store-graphiql-${width}`);
      await assertAccessible(page);
    }
    await page.getByRole('button', { name: 'Open GraphiQL without data' }).click();
    await page.locator('.graphiql-tab', { hasText: 'InsertNote' }).waitFor();
    await page.goto('about:blank'); // GraphiQL saves its tabs some time after a change
    await page.goto(guarded);
    await page.evaluate(() => localStorage.clear());
  });
  await check('an empty store takes the sample data with one click', async () => {
    await page.getByRole('heading', { name: 'No collections' }).waitFor();
    await screenshot('empty-store');
    await assertAccessible(page);
    await page.getByRole('button', { name: 'Store the sample data' }).click();
    await page.getByRole('link', { name: 'countries 40' }).waitFor();
    await page.getByRole('link', { name: 'guides 1' }).click();
  });
  await check('the sample data has its types', async () => {
    await page.getByText('All documents fit', { exact: true }).waitFor();
  });
  await check('a server without a change log says so', async () => {
    await page.getByText('Not live: the change log is off').waitFor();
  });
  await check('both tabs use the token, also after a reload', async () => {
    await page.reload();
    await page.getByRole('link', { name: 'css', exact: true }).waitFor();
    await page.getByRole('link', { name: 'GraphiQL' }).click();
    await page.locator('.graphiql-query-editor .view-line').first().waitFor();
    await page.locator('.graphiql-response .monaco-editor').waitFor();
    await page.getByRole('button', { name: 'OneCountry', exact: true }).click();
    await page.getByRole('button', { name: /^Execute query/ }).click();
    await page.locator('.graphiql-response').getByText('"France"').waitFor();
  });
  const mutations = [];
  const isMutation = (request) => request.postData()?.includes('"query":"\\n    mutation') === true;
  page.on('request', (request) => isMutation(request) && mutations.push(/mutation (\w+)/.exec(request.postData())[1]));
  await check('nothing offers to edit until the server has said that the token allows it', async () => {
    let answer;
    const waiting = new Promise((resolve) => (answer = resolve));
    const hold = (url) => url.pathname.endsWith('/graphql');
    await page.route(hold, async (route) => {
      if (isMutation(route.request())) await waiting;
      return route.continue();
    });
    await page.goto('about:blank');
    await page.goto(new URL('#/c/countries/FRA', guarded).href);
    await page.getByRole('row', { name: /^area/ }).waitFor();
    assert.equal(await page.getByRole('button', { name: 'Edit area' }).count(), 0);
    answer();
    await page.getByRole('button', { name: 'Edit area' }).waitFor();
    await page.unroute(hold);
    assert.deepEqual(mutations.splice(0), ['Access']);
  });
  await check('with a token that allows reading only, nothing offers to edit', async () => {
    await page.getByRole('button', { name: 'Token ✓' }).click();
    await enter(readOnlyToken);
    await page.getByText('Read-only', { exact: true }).waitFor();
    const row = page.getByRole('row', { name: /^area/ });
    await row.focus();
    for (const key of ['F2', 'Delete', 'Insert', 'Enter']) await page.keyboard.press(key);
    assert.equal(await page.getByRole('textbox').count(), 0);
    assert.equal(await page.getByRole('button', { name: /^(Edit|Add to|Remove) / }).count(), 0);
    await page.setViewportSize({ width: 390, height: 800 });
    await assertFits(page);
    await assertAccessible(page);
    await screenshot('read-only');
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.getByRole('link', { name: '← countries' }).click();
    await page.getByRole('link', { name: 'FRA', exact: true }).waitFor();
    await page.getByText('All documents fit', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Definition' }).click();
    await page.getByLabel('Definition of the type').waitFor();
    assert.equal(await page.getByRole('button', { name: /^(Insert|New index|Change the type|Drop the type)$/ }).count(), 0);
    assert.deepEqual(mutations.splice(0), ['Access']);
  });
  await check('the token can be forgotten', async () => {
    await page.getByRole('button', { name: 'Token ✓' }).click();
    await page.getByRole('button', { name: 'Forget it' }).click();
    await page.getByRole('heading', { name: 'This server requires a token' }).waitFor();
    assert.equal(await page.evaluate(() => sessionStorage.length), 0);
  });
}
