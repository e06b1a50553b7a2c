// The filter builder and the indexes in the tab Explore.

import assert from 'node:assert/strict';
import { assertAccessible } from './axe.mjs';
import { assertFits, focused, until } from './harness.mjs';

export async function filters({ base, page, check, screenshot, client }) {
  const keys = () => page.locator('tbody a').allInnerTexts();
  const shows = (expected) => until(async () => (await keys()).join() === expected);
  await page.goto('about:blank');
  await page.goto(new URL('#/c/countries', base).href);
  const condition = page.getByRole('group', { name: 'Condition' });
  const set = async (index, at, operator, value) => {
    await condition.nth(index).getByRole('combobox', { name: 'JSONPath' }).fill(at);
    await condition.nth(index).getByRole('combobox', { name: 'Operator' }).selectOption(operator);
    if (value !== undefined) await condition.nth(index).getByRole('textbox', { name: 'Value' }).fill(value);
  };

  await check('fields come from the documents, and a path is tried as it is typed', async () => {
    await page.getByRole('button', { name: 'Filter' }).click();
    const offered = await page.locator('datalist option').evaluateAll((options) => options.map(({ value }) => value));
    assert.ok(offered.includes('$.name.common') && offered.includes('$.area'), offered.join());
    await set(0, '$.area', '≥', '600000');
    await page.getByText('Compared with 600000.').waitFor();
    await condition.getByText('In AND: 468').waitFor();
    await condition.nth(0).getByRole('combobox', { name: 'JSONPath' }).fill('$.area[');
    await condition.getByRole('alert').waitFor();
    await set(0, '$.area', '≥', '600000');
  });
  await check('the plan is shown, and an index that would serve is created with one click', async () => {
    await page.getByRole('button', { name: 'Find' }).click();
    const large = 'ARG,AUS,BRA,CAN,CHL,CHN,EGY,IND,MEX,PER,USA,ZAF';
    await shows(large);
    await page.getByText('Without an index: 40 documents examined').waitFor();
    await screenshot('filter');
    await assertAccessible(page);
    await page.getByRole('button', { name: 'Create the index' }).click();
    await page.getByRole('list', { name: 'Indexes' }).getByText('$.area').waitFor();
    assert.equal(await focused(page), 'New index');
    await until(async () => (await client.query('{ collections { name indexes { state } } }')).collections.find(({ name }) => name === 'countries').indexes[0].state === 'READY');
    await page.getByRole('button', { name: 'Find' }).click();
    await page.getByText(/^Index area/).waitFor();
    assert.equal((await keys()).sort().join(), large);
  });
  await check('conditions are combined, and text is found in any case', async () => {
    await page.getByRole('button', { name: 'Add a condition' }).click();
    await set(1, '$.name.common', 'contains, any case', 'FRAN');
    await page.getByRole('combobox', { name: 'Which conditions must hold' }).selectOption('all of them');
    await set(0, '$.area', '<', '600000');
    await page.getByRole('button', { name: 'Find' }).click();
    await shows('FRA');
  });
  await check('all strings are searched in any case, with and without conditions', async () => {
    const search = page.getByRole('searchbox', { name: 'Search in all strings' });
    await search.fill('BERN');
    await page.getByRole('button', { name: 'Find' }).click();
    await shows('');
    await condition.nth(1).getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('button', { name: 'Find' }).click();
    await shows('CHE');
    await condition.nth(0).getByRole('button', { name: 'Remove' }).click();
    await shows('CHE');
    await page.getByText('No index serves a search inside of strings').waitFor();
    await search.fill('');
    await until(async () => (await keys()).length > 20);
    await page.getByRole('button', { name: 'Filter' }).click();
    await set(0, '$..*', 'contains, any case', 'andorra la');
    await page.getByRole('button', { name: 'Find' }).click();
    await shows('AND');
    await set(0, '$.area', '<', '600000');
    await page.getByRole('button', { name: 'Add a condition' }).click();
    await set(1, '$.name.common', 'contains, any case', 'FRAN');
    await page.getByRole('button', { name: 'Find' }).click();
    await shows('FRA');
  });
  await check('a path is completed to one of the whole document', async () => {
    await set(1, 'name.official', 'contains, any case', 'FRENCH');
    await page.keyboard.press('Enter');
    await shows('FRA');
    assert.equal(await condition.nth(1).getByRole('combobox', { name: 'JSONPath' }).inputValue(), '$.name.official');
    await set(1, '$.name.common', 'contains, any case', 'FRAN');
    await page.getByRole('button', { name: 'Find' }).click();
    await shows('FRA');
  });
  await check('the filter and the order stay while a document is shown', async () => {
    await page.getByRole('button', { name: 'subregion', exact: true }).click();
    await page.locator('th[aria-sort="ascending"]', { hasText: 'subregion' }).waitFor();
    await page.getByRole('link', { name: 'FRA', exact: true }).click();
    await page.getByRole('heading', { name: 'FRA' }).waitFor();
    await page.getByRole('link', { name: '← countries' }).click();
    await shows('FRA');
    assert.equal(await condition.count(), 2);
    await page.locator('th[aria-sort="ascending"]', { hasText: 'subregion' }).waitFor();
    await page.getByRole('button', { name: 'key', exact: true }).click();
    await shows('FRA');
  });
  await check('the query of the table is shown and opened in GraphiQL', async () => {
    await page.getByRole('button', { name: 'GraphQL', exact: true }).click();
    await screenshot('filter-query');
    for (const width of [390, 820, 1440]) {
      await page.setViewportSize({ width, height: 800 });
      await assertFits(page);
      await screenshot(`filter-${width}`);
    }
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.getByRole('button', { name: 'Open in GraphiQL' }).click();
    await page.locator('.graphiql-tab', { hasText: 'Table' }).waitFor();
    await page.getByRole('button', { name: /^Execute query/ }).click();
    await page.locator('.graphiql-response').getByText('"FRA"').waitFor();
    await screenshot('opened-in-graphiql');
  });
  await check('columns are chosen from the paths of the documents', async () => {
    await page.goto('about:blank'); // a view that was opened keeps its filter
    await page.goto(new URL('#/c/countries', base).href);
    await page.getByText('Columns', { exact: true }).click();
    await page.getByRole('checkbox', { name: '$.subregion' }).uncheck();
    await page.getByRole('checkbox', { name: '$.borders' }).check();
    await page.getByRole('cell', { name: '[ 2 elements ]' }).first().waitFor();
    assert.equal(await page.getByRole('columnheader', { name: 'subregion' }).count(), 0);
    await screenshot('columns');
    await assertAccessible(page);
  });
  await check('a partial index shows its filter, with every digit', async () => {
    const where = '{at: "$.area", gte: 12345678901234567890}';
    await client.change(`createIndex(collection: "countries", name: "huge", on: ["$.area"], where: ${where}) { state }`);
    await page.getByRole('button', { name: 'Reload' }).click();
    await page.getByRole('list', { name: 'Indexes' }).getByText('12345678901234567890').waitFor();
    await client.change('dropIndex(collection: "countries", name: "huge")');
  });
  await check('an index is dropped after a question', async () => {
    await page.goto(new URL('#/c/countries', base).href);
    await page.getByRole('button', { name: 'Drop the index area' }).click();
    await page.getByRole('button', { name: 'Drop area' }).click();
    await page.getByRole('list', { name: 'Indexes' }).waitFor({ state: 'detached' });
  });
}
