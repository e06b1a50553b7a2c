// What changes is shown as it changes.

import assert from 'node:assert/strict';
import net from 'node:net';
import { until } from './harness.mjs';

export async function live({ base, page, check, screenshot, client }) {
  for (let index = 0; index < 120; index++) await client.store('live', `k${1000 + index}`, `{"n": ${index}, "list": [1]}`);
  const sockets = [];
  const add = (socket) => {
    sockets.push(socket);
    socket.on('close', () => sockets.splice(sockets.indexOf(socket), 1));
  };
  page.on('websocket', add);
  const proxy = await cuttable(new URL(base));
  await page.goto('about:blank');
  await page.goto(`${proxy.url}#/c/live`);

  await check('a change of a document is marked in the table, on one connection', async () => {
    await page.locator('.live-status.live').waitFor();
    await page.getByRole('cell', { name: '3', exact: true }).waitFor();
    await client.change('replaceDocument(id: "k1003", collection: "live", path: "/n", document: 7777) { id }');
    await page.locator('tr.changed', { hasText: '7777' }).waitFor();
    assert.equal(await page.locator('tr.changed').count(), 1);
    assert.equal(sockets.length, 1);
    assert.equal(await client.openSubscriptions(), 1);
    await screenshot('live-table');
  });
  await check('new documents are counted, and removed ones leave', async () => {
    await client.store('live', 'k0', '{"n": 1}');
    await page.getByRole('button', { name: '1 new, read again' }).click();
    await page.getByRole('link', { name: 'k0', exact: true }).waitFor();
    await page.locator('.live-status.live').waitFor();
    await client.change('deleteDocument(id: "k0", collection: "live") { deleted }');
    await page.getByRole('link', { name: 'k0', exact: true }).waitFor({ state: 'detached' });
  });
  await check('a lost connection is said, and nothing is missed when it is back', async () => {
    await page.getByRole('link', { name: 'k1005', exact: true }).click();
    await page.getByRole('row', { name: /^list/ }).waitFor();
    await page.locator('.live-status.live').waitFor();
    proxy.cut();
    await page.getByText('Connection lost. Reconnecting …').waitFor();
    await screenshot('live-lost');
    await client.change('replaceDocument(id: "k1005", collection: "live", path: "/n", document: 5555) { id }');
    proxy.restore();
    await page.getByText('5555', { exact: true }).waitFor();
    await page.locator('.live-status.live').waitFor();
  });
  await check('a change of a place is marked in the tree; a new member and a removed one too', async () => {
    await page.getByRole('row', { name: /^list/ }).focus();
    await page.keyboard.press('ArrowRight');
    await client.change('patchDocument(id: "k1005", collection: "live", patch: [{op: "add", path: "/list/-", value: "second"}]) { id }');
    await page.locator('.changed', { hasText: 'second' }).waitFor();
    await client.change('replaceDocument(id: "k1005", collection: "live", path: "/fresh", document: true) { id }');
    await page.locator('.changed', { hasText: 'fresh' }).waitFor();
    await screenshot('live-tree');
    await client.change('deleteDocument(id: "k1005", collection: "live", path: "/fresh") { deleted }');
    await page.getByText('fresh', { exact: true }).waitFor({ state: 'detached' });
    await client.change('replaceDocument(id: "k1005", collection: "live", document: {other: 1}) { id }');
    await page.getByText('other', { exact: true }).waitFor();
    assert.equal(sockets.length, 1);
  });
  await check('a view that is closed follows nothing', async () => {
    await page.goto(`${proxy.url}#/`);
    await until(async () => (await client.openSubscriptions()) === 0);
  });
  page.off('websocket', add);
  await page.goto('about:blank');
  proxy.close();
  await client.change('dropCollection(collection: "live", everything: true) { collection }');
}

/** A TCP proxy in front of the server, whose connections can be cut. */
async function cuttable({ hostname, port }) {
  const open = new Set();
  let down = false;
  const server = net.createServer((near) => {
    if (down) return near.destroy();
    const far = net.connect(Number(port), hostname);
    for (const [one, other] of [[near, far], [far, near]]) {
      open.add(one);
      one.pipe(other);
      one.on('error', () => other.destroy());
      one.on('close', () => (open.delete(one), other.destroy()));
    }
  });
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    cut() {
      down = true;
      open.forEach((socket) => socket.destroy());
    },
    restore() {
      down = false;
    },
    close() {
      server.close();
      open.forEach((socket) => socket.destroy());
    },
  };
}
