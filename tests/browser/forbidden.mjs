// What access rules forbid. The errors of rules are put into the responses of a server without rules, so
// that each of them can be tested alone.

import assert from 'node:assert/strict';
import { assertAccessible } from './axe.mjs';
import { assertFits, until } from './harness.mjs';

export async function forbidden({ base, page, check, screenshot }) {
  /** While `body` runs, the operations that `field` accepts fail at the field that it returns. */
  async function forbidding(field, body) {
    const route = (url) => url.pathname.endsWith('/graphql');
    await page.route(route, async (route) => {
      const { query, variables } = route.request().postDataJSON();
      const failing = field(/(?:query|mutation) (\w+)/.exec(query)[1], variables);
      if (!failing) return route.continue();
      const error = { message: `no rule allows this request to use ${failing}`, path: [failing], extensions: { code: 'FORBIDDEN' } };
      return route.fulfill({ json: { data: null, errors: [error] } });
    });
    try {
      await body();
    } finally {
      await page.unroute(route);
    }
  }
  const open = async (hash) => {
    await page.goto('about:blank');
    await page.goto(new URL(hash, base).href);
  };
  const alert = page.getByRole('alert').filter({ hasText: 'The access rules do not allow this: no rule allows' });

  await check('a collection that is not listed opens by its name', async () => {
    await open('#/');
    await page.getByText('Open by name').click();
    await page.getByRole('textbox', { name: 'Collection' }).fill('hidden');
    await page.getByRole('button', { name: 'Open', exact: true }).click();
    await page.getByText('The server does not list this collection').waitFor();
    await page.getByText('0 shown').waitFor();
    await assertAccessible(page);
  });
  await check('a forbidden collection says so', () =>
    forbidding((name) => ['Sample', 'Rows'].includes(name) && 'documents', async () => {
      await open('#/c/countries');
      await alert.waitFor();
      await screenshot('forbidden-collection');
      assert.equal(await page.getByText('Read-only', { exact: true }).count(), 0);
    }));
  await check('a collection whose documents are forbidden as a whole shows their keys', () =>
    forbidding((name, { with0 }) => (name === 'Sample' || with0) && 'children', async () => {
      await open('#/c/countries');
      await page.getByRole('link', { name: 'AND', exact: true }).waitFor();
      assert.equal(await alert.count(), 0);
    }));
  await check('documents are found without a plan that is forbidden', () =>
    forbidding((name, { withPlan }) => withPlan && 'documents', async () => {
      await open('#/c/countries');
      await page.getByRole('button', { name: 'area', exact: true }).click();
      await until(async () => (await page.locator('tbody a').first().innerText()) === 'MCO');
      assert.equal(await alert.count(), 0);
    }));
  await check('a forbidden document says so, and its parts open by their path', () =>
    forbidding((name, { path }) => name === 'Root' && path.length === 0 && 'document', async () => {
      await page.setViewportSize({ width: 390, height: 800 });
      await open('#/c/countries/FRA');
      await alert.waitFor();
      await page.getByText('Parts of the document can be allowed').waitFor();
      await assertFits(page);
      await assertAccessible(page);
      await screenshot('forbidden-document');
      await page.getByRole('textbox', { name: 'Path' }).fill('/area');
      await page.keyboard.press('Enter');
      await page.getByRole('row', { name: /^area 551695/ }).waitFor();
      await page.setViewportSize({ width: 1280, height: 800 });
    }));
  await check('a forbidden level and a forbidden edit leave everything else as it is', () =>
    forbidding((name, { path }) => (name === 'Replace' ? 'replaceDocument' : name === 'Level' && path[0] === 'name' && 'document'), async () => {
      await open('#/c/countries/FRA');
      await page.getByRole('row', { name: /^name / }).focus();
      await page.keyboard.press('ArrowRight');
      await alert.waitFor();
      await page.getByRole('row', { name: /^name / }).focus();
      await page.keyboard.press('ArrowLeft');
      await alert.waitFor({ state: 'detached' });
      await page.getByRole('row', { name: /^area / }).focus();
      await page.keyboard.press('F2');
      await page.getByRole('textbox', { name: 'New value of /area' }).fill('1');
      await page.keyboard.press('Enter');
      await alert.waitFor();
      await page.getByRole('button', { name: 'Edit area' }).waitFor();
      await screenshot('forbidden-edit');
    }));
}
