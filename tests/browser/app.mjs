// Uses the app of examples/browser-app in headless Chromium, as two of its users would.
//
//     node app.mjs PAGE_URL ARTIFACTS

import assert from 'node:assert/strict';
import { start, until } from './harness.mjs';

const [base, artifacts] = process.argv.slice(2);
const { browser, page, check, screenshot, end } = await start(base, artifacts);

const message = (of) => of.getByRole('status').innerText();
const reviews = (of) => of.getByRole('listitem').allInnerTexts();

async function signIn(of, name) {
  await of.getByLabel('Name').fill(name);
  await of.getByRole('button', { name: 'Sign in' }).click();
  await of.getByText(`Signed in as ${name}`).waitFor();
}

async function save(of, text, author = '') {
  await of.getByLabel('Author').fill(author);
  await of.getByLabel('Review').fill(text);
  await of.getByRole('button', { name: 'Save' }).click();
}

await check('who has not signed in reads the products', async () => {
  await page.goto(base);
  await page.getByRole('heading', { name: 'Green tea' }).waitFor();
  assert.deepEqual(await reviews(page), []);
});
await check('who has not signed in writes nothing', async () => {
  await save(page, 'spam', 'alice');
  await until(async () => (await message(page)).includes('no rule allows this request to write "/reviews/alice"'));
});
await check('a user writes a review, which is shown without a reload', async () => {
  await signIn(page, 'alice');
  await save(page, 'Fresh.');
  await page.getByRole('listitem').getByText('alice: Fresh.').waitFor();
  await until(async () => (await message(page)) === 'Stored');
});
await check('a user does not write the review of somebody else', async () => {
  await save(page, 'Bad.', 'bob');
  await until(async () => (await message(page)).includes('no rule allows this request to write "/reviews/bob"'));
  await screenshot('app');
});
await check('users see what others write, as it is written', async () => {
  const other = await browser.newPage();
  await other.goto(base);
  await other.getByRole('listitem').getByText('alice: Fresh.').waitFor();
  await signIn(other, '42'); // a name of digits is the name of a member too
  await save(other, 'Bitter.');
  await page.getByRole('listitem').getByText('42: Bitter.').waitFor();
  assert.deepEqual((await reviews(page)).toSorted(), ['42: Bitter.', 'alice: Fresh.']);
});
await end();
