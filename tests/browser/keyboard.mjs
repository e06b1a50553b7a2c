// Everything works by keyboard, and the focus is visible.

import assert from 'node:assert/strict';
import { assertAccessible } from './axe.mjs';
import { until } from './harness.mjs';

/** More presses of Tab than a view has places that they reach. */
const TABS_MAX = 120;

export async function keyboard({ base, browser, page, check, screenshot, client }) {
  const open = async (hash) => {
    await page.goto('about:blank');
    await page.goto(new URL(hash, base).href);
  };
  const { keyboard } = page;
  /** Presses Tab until the element that has the focus has this text or name. */
  const tabTo = async (name, key = 'Tab') => {
    for (let presses = 0; presses < TABS_MAX; presses++) {
      await keyboard.press(key);
      if (await page.evaluate((name) => nameOf(document.activeElement) === name, name)) return;
    }
    assert.fail(`Tab does not reach ${name}`);
  };
  await browser.addInitScript(() => {
    globalThis.nameOf = (element) => element?.getAttribute('aria-label') ?? element?.textContent?.trim() ?? '';
    // What is wrong with how the focus of the active element is shown; undefined if it is seen.
    globalThis.hiddenFocus = () => {
      const element = document.activeElement;
      const { outlineStyle, outlineWidth } = getComputedStyle(element);
      const { width, height, top, left } = element.getBoundingClientRect();
      const inside = width > 0 && height > 0 && top < innerHeight && left < innerWidth && top + height > 0;
      let opacity = 1;
      for (let of = element; of; of = of.parentElement) opacity *= Number(getComputedStyle(of).opacity);
      const shown = outlineStyle !== 'none' && parseFloat(outlineWidth) >= 1 && inside && opacity === 1;
      return shown ? undefined : `${element.tagName} ${globalThis.nameOf(element)}: ${outlineStyle} ${outlineWidth} ${opacity} ${inside}`;
    };
  });

  const views = {
    'the list': async () => {
      await open('#/');
      await page.getByRole('heading', { name: 'Collections', level: 1 }).waitFor();
    },
    'a collection': async () => {
      await open('#/c/countries');
      await page.getByRole('link', { name: 'AND', exact: true }).waitFor();
      await page.getByText('Columns', { exact: true }).click();
      await page.getByRole('button', { name: 'Definition' }).click();
      await page.getByRole('button', { name: 'Filter' }).click();
    },
    'a new document': async () => {
      await open('#/c/countries');
      await page.getByRole('link', { name: 'AND', exact: true }).waitFor();
      await page.getByRole('button', { name: 'Insert' }).click();
    },
    'a document': async () => {
      await open('#/c/countries/FRA');
      await page.getByRole('row', { name: /^area/ }).waitFor();
      await page.getByRole('button', { name: 'JSONPath', exact: true }).click();
    },
    'an import': async () => {
      await open('#/c/countries');
      await page.getByRole('main').getByRole('button', { name: 'Import', exact: true }).click();
    },
    'the token': async () => {
      await open('#/');
      await page.getByRole('button', { name: 'Token' }).click();
    },
  };
  for (const [view, show] of Object.entries(views)) {
    await check(`the focus is visible on all that Tab reaches in ${view}`, async () => {
      await show();
      await page.evaluate(() => document.activeElement.blur());
      const reached = new Set();
      const hidden = [];
      for (let presses = 0; presses < TABS_MAX; presses++) {
        await keyboard.press('Tab');
        const [name, mistake] = await page.evaluate(() => [nameOf(document.activeElement), document.activeElement === document.body ? 'end' : hiddenFocus()]);
        if (mistake === 'end') break;
        reached.add(name);
        if (mistake) hidden.push(mistake);
      }
      assert.deepEqual(hidden, []);
      assert.ok(reached.size >= 4, [...reached].join());
    });
  }
  await check('a collection is opened, sorted and searched by keyboard', async () => {
    await views['the list']();
    await tabTo('countries 40typed');
    await keyboard.press('Enter');
    await page.getByRole('link', { name: 'AND', exact: true }).waitFor();
    await tabTo('area');
    await keyboard.press('Enter');
    await until(async () => (await page.locator('tbody a').first().innerText()) === 'MCO');
    await tabTo('Search in all strings', 'Shift+Tab');
    await keyboard.type('republic OF f');
    await keyboard.press('Enter');
    await until(async () => (await page.locator('tbody a').allInnerTexts()).join() === 'FIN');
  });
  await check('a condition is made by keyboard', async () => {
    await views['a collection']();
    await page.getByRole('combobox', { name: 'JSONPath' }).focus();
    await keyboard.type('$.region');
    await keyboard.press('Tab');
    await keyboard.press('ArrowDown'); // is not
    await keyboard.press('Tab');
    await keyboard.type('E');
    await tabTo('Find', 'Shift+Tab');
    await keyboard.press('Enter');
    await page.getByText('17 shown').waitFor();
  });
  await check('a document is opened, read and left by keyboard', async () => {
    await open('#/c/countries');
    await page.getByRole('link', { name: 'AND', exact: true }).waitFor();
    await tabTo('FRA');
    await keyboard.press('Enter');
    await page.getByRole('row', { name: /^area/ }).waitFor();
    assert.equal(await page.evaluate(() => nameOf(document.activeElement)), 'FRA'); // the heading
    await tabTo('Copy the document as');
    await keyboard.press('Shift+Tab');
    await page.getByRole('row', { name: /^\$/ }).focus();
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowRight']) await keyboard.press(key);
    await page.getByRole('row', { name: /^0.*AND/ }).waitFor();
    await keyboard.press('ArrowDown');
    await until(() => page.evaluate(() => document.activeElement?.getAttribute('aria-level') === '3'));
    await tabTo('← countries', 'Shift+Tab');
    await keyboard.press('Enter');
    await page.getByRole('link', { name: 'FRA', exact: true }).waitFor();
  });
  await check('the menu of a place is used by keyboard', async () => {
    await browser.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: new URL(base).origin });
    await open('#/c/countries/FRA');
    await page.getByRole('row', { name: /^area/ }).focus();
    await tabTo('Copy /area as');
    await keyboard.press('ArrowDown');
    const focused = () => page.evaluate(() => document.activeElement.textContent);
    await until(async () => (await focused()) === 'Value');
    await screenshot('menu');
    await assertAccessible(page);
    await keyboard.press('ArrowUp');
    assert.equal(await focused(), 'Open in GraphiQL');
    await keyboard.press('j');
    assert.equal(await focused(), 'JSON Pointer');
    await keyboard.press('j');
    assert.equal(await focused(), 'JSONPath');
    await keyboard.press('Enter');
    await page.getByText('Copied').waitFor();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), '$.area');
    assert.equal(await page.evaluate(() => nameOf(document.activeElement)), 'Copy /area as');
    await keyboard.press('Enter');
    await page.getByRole('menu').waitFor();
    await keyboard.press('Escape');
    await page.getByRole('menu').waitFor({ state: 'detached' });
    assert.equal(await page.evaluate(() => nameOf(document.activeElement)), 'Copy /area as');
  });
  await check('a value is edited, and the edit undone, by keyboard', async () => {
    await client.store('typed', 'one', '{"count": 1}');
    await open('#/c/typed/one');
    await page.getByRole('row', { name: /^count/ }).focus();
    await keyboard.press('F2');
    await keyboard.press('Control+a');
    await keyboard.type('2');
    await keyboard.press('Enter');
    await page.getByRole('row', { name: 'count 2' }).waitFor();
    await page.getByText('Changed /count.').waitFor();
    await keyboard.press('Control+z');
    await page.getByRole('row', { name: 'count 1' }).waitFor();
    await client.change('dropCollection(collection: "typed", everything: true) { collection }');
  });
}
