import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'graphql';
import { examplesOf } from './ownExamples';

const node = (key: string, children: { path: string[]; kind: 'STRING' | 'OBJECT' }[]) => ({
  key,
  kind: 'OBJECT' as const,
  children: { nodes: children.map((child) => ({ ...child, children: { nodes: [] } })) },
});

test('queries are made from the names in the documents', () => {
  const sample = { documents: { nodes: [node('a"b', [{ path: ['title "x"'], kind: 'STRING' }, { path: ['more'], kind: 'OBJECT' }])] } };
  const queries = examplesOf('my "own"', sample).map(({ query }) => query);
  const names = queries.map((query) => parse(query).definitions.map((one) => 'name' in one && one.name?.value).join());
  assert.deepEqual(names.slice(0, 3), ['OneDocument', 'Children', 'FindDocuments']);
  assert.match(queries[0] ?? '', /id: "a\\"b", collection: "my \\"own\\""/);
  assert.match(queries[2] ?? '', /at: "\$\['title \\"x\\"'\]"/);
});

test('documents that are no objects have no query by path', () => {
  const sample = { documents: { nodes: [{ key: '1', kind: 'NUMBER' as const, children: { nodes: [] } }] } };
  const names = examplesOf('numbers', sample).map(({ query }) => parse(query).definitions.length);
  assert.ok(names.every((count) => count === 1));
});
