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
  await check('a token that allows reading only is found out by the first edit', async () => {
    await enter(readOnlyToken);
    await page.getByRole('button', { name: 'Store the sample data' }).click();
    await page.getByText('Only reading is allowed here').waitFor();
  });
  await check('an empty store takes the sample data with one click', async () => {
    await page.getByRole('button', { name: 'Token ✓' }).click();
    await enter(token);
    await page.getByRole('heading', { name: 'No collections' }).waitFor();
    await screenshot('empty-store');
    await assertAccessible(page);
    await page.getByRole('button', { name: 'Store the sample data' }).click();
    await page.getByRole('link', { name: 'countries 40' }).waitFor();
    await page.getByRole('link', { name: 'guides 1' }).click();
  });
  await check('a server without a change log says so', async () => {
    await page.getByText('Not live: the change log is off').waitFor();
  });
  await check('both tabs use the token, also after a reload', async () => {
    await page.reload();
    await page.getByRole('link', { name: 'css', exact: true }).waitFor();
    await page.getByRole('link', { name: 'GraphiQL' }).click();
    await page.getByRole('tab', { name: 'OneCountry' }).waitFor();
    await page.locator('.graphiql-query-editor .view-line').first().waitFor();
    await page.locator('.graphiql-response .monaco-editor').waitFor();
    await page.getByRole('button', { name: /^Execute query/ }).click();
    await page.locator('.graphiql-response').getByText('"France"').waitFor();
  });
  await check('with a token that allows reading only, nothing offers to edit after a refusal', async () => {
    await page.getByRole('button', { name: 'Token ✓' }).click();
    await enter(readOnlyToken);
    await page.goto(new URL('#/c/countries/FRA', guarded).href);
    const row = page.getByRole('row', { name: /^area/ });
    await row.focus();
    await page.keyboard.press('F2');
    await page.getByRole('textbox', { name: 'New value of /area' }).fill('1');
    await page.keyboard.press('Enter');
    await page.getByText('Only reading is allowed here').waitFor();
    await page.getByText('Read-only', { exact: true }).waitFor();
    assert.equal(await page.getByRole('button', { name: 'Edit area' }).count(), 0);
    await screenshot('read-only');
  });
  await check('the token can be forgotten', async () => {
    await page.getByRole('button', { name: 'Token ✓' }).click();
    await page.getByRole('button', { name: 'Forget it' }).click();
    await page.getByRole('heading', { name: 'This server requires a token' }).waitFor();
    assert.equal(await page.evaluate(() => sessionStorage.length), 0);
  });
}
