import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonKind } from '../../api/generated';
import { pointerOf, type Path } from '../place';
import { affectedBy, EMPTY_TREE, openPlaces, reduceTree, rowsOf, type Place, type Row, type Tree, type TreeAction } from './tree';

const place = (path: Path, kind: JsonKind = 'NUMBER', text?: string, length: number | null = null): Place => ({
  id: `d#${pointerOf(path)}`,
  path,
  kind,
  length,
  version: '1',
  text,
});
const after = (...actions: TreeAction[]): Tree => actions.reduce(reduceTree, EMPTY_TREE);
const root = place([], 'OBJECT', undefined, 2);
const opened: TreeAction[] = [
  { type: 'root', root },
  { type: 'open', path: [] },
  { type: 'level', path: [], places: [place(['a'], 'ARRAY', undefined, 300), place(['b'], 'NUMBER', '1')], next: null },
];
const shown = (tree: Tree) =>
  rowsOf(tree).map((row) => (row.type === 'place' ? pointerOf(row.place.path) : `${row.type} ${pointerOf(row.parent.path)}`));

test('rows are the opened levels, with the rest of a level below it', () => {
  const tree = after(
    ...opened,
    { type: 'open', path: ['a'] },
    { type: 'level', path: ['a'], places: [place(['a', 0], 'NUMBER', '5')], next: 'cursor' },
  );
  assert.deepEqual(shown(tree), ['', '/a', '/a/0', 'more /a', '/b']);
  assert.deepEqual(shown(reduceTree(tree, { type: 'close', path: ['a'] })), ['', '/a', '/b']);
});

test('a level that begins elsewhere has no changed places, and knows its positions', () => {
  const before = after(
    ...opened,
    { type: 'open', path: ['a'] },
    { type: 'level', path: ['a'], places: [place(['a', 0], 'NUMBER', '5')], next: 'cursor' },
  );
  const jumped = reduceTree(before, { type: 'level', path: ['a'], places: [place(['a', 250], 'NUMBER', '7')], next: null, from: 250 });
  const again = reduceTree(jumped, { type: 'level', path: ['a'], places: [place(['a', 250], 'NUMBER', '8')], next: null, from: 250 });
  const element = (tree: Tree) => rowsOf(tree).find((row) => row.type === 'place' && row.depth === 2) as Row & { type: 'place' };
  assert.equal(element(jumped).place.changes, undefined);
  assert.equal(element(again).place.changes, 1);
  assert.equal(element(jumped).index, 250);
  const named = reduceTree(before, { type: 'level', path: [], places: [place(['b'])], next: null, from: 'b' });
  assert.deepEqual(rowsOf(named).map((row) => row.type === 'place' && row.index), [0, undefined]);
});

test('the next page is appended', () => {
  const tree = after(
    ...opened,
    { type: 'open', path: ['a'] },
    { type: 'level', path: ['a'], places: [place(['a', 0])], next: 'cursor' },
    { type: 'more', path: ['a'], places: [place(['a', 1])], next: null },
  );
  assert.deepEqual(shown(tree), ['', '/a', '/a/0', '/a/1', '/b']);
});

test('a level that fails says so in its place', () => {
  const tree = after(...opened, { type: 'open', path: ['a'] }, { type: 'failed', path: ['a'], error: new Error('no') });
  assert.deepEqual(shown(tree), ['', '/a', 'failure /a', '/b']);
});

test('a root that is read again keeps the open levels, and a closed one is read when it is opened', () => {
  const closed: TreeAction[] = [
    { type: 'open', path: ['a'] },
    { type: 'level', path: ['a'], places: [place(['a', 0])], next: null },
    { type: 'close', path: ['a'] },
  ];
  const tree = after(...opened, ...closed, { type: 'root', root });
  assert.deepEqual(shown(tree), ['', '/a', '/b']);
  assert.equal(tree.levels.has('/a'), false);
  assert.deepEqual(openPlaces(tree).map(({ path }) => path), [[]]);
  assert.deepEqual(shown(reduceTree(tree, { type: 'root', root: null })), []);
});

test('a part of a document is a tree of its own', () => {
  const part = place(['a'], 'OBJECT', undefined, 1);
  const tree = after(
    { type: 'root', root: part },
    { type: 'open', path: ['a'] },
    { type: 'level', path: ['a'], places: [place(['a', 'x'], 'NUMBER', '5')], next: null },
  );
  assert.deepEqual(shown(tree), ['/a', '/a/x']);
  assert.deepEqual(affectedBy(tree, [['a', 'x']]), { ids: new Set(['d#/a/x', 'd#/a']), levels: [] });
  assert.deepEqual(affectedBy(tree, [['b']]), { ids: new Set(), levels: [] });
});

test('only places whose value is another one count as changed', () => {
  const tree = after(...opened, {
    type: 'refreshed',
    places: new Map([[root.id, root], ['d#/b', place(['b'], 'NUMBER', '2')]]),
  });
  assert.equal(tree.root?.changes, 0);
  assert.deepEqual(tree.levels.get('')?.places.map(({ changes }) => changes), [undefined, 1]);
});

test('a new member of a level that is read again counts as changed', () => {
  const tree = after(...opened, {
    type: 'level',
    path: [],
    places: [place(['a'], 'ARRAY', undefined, 300), place(['b'], 'NUMBER', '1'), place(['c'])],
    next: null,
  });
  assert.deepEqual(tree.levels.get('')?.places.map(({ changes }) => changes), [0, 0, 1]);
});

test('a change is read at the place, its parent and the levels below', () => {
  const tree = after(...opened, { type: 'level', path: ['a'], places: [place(['a', 0])], next: null });
  assert.deepEqual(affectedBy(tree, [['b']]), { ids: new Set(['d#/b', 'd#']), levels: [] });
  assert.deepEqual(affectedBy(tree, [['a']]), { ids: new Set(['d#/a', 'd#']), levels: [['a']] });
  assert.deepEqual(affectedBy(tree, [['new']]), { ids: new Set(['d#']), levels: [[]] });
  assert.deepEqual(affectedBy(tree, [['x', 'y']]), { ids: new Set(), levels: [] });
});
