import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SampledPath } from '../collection/columns';
import { proposeSchema } from './proposeSchema';

const seen = (path: string[], ...kinds: SampledPath['kinds']): SampledPath => ({ path, kinds, count: 1, depth: path.length });

test('a type is proposed from the kinds that were seen', () => {
  const paths = [seen(['a'], 'NUMBER', 'NULL'), seen(['b'], 'OBJECT'), seen(['b', '__proto__'], 'STRING'), seen(['c'], 'ARRAY', 'OBJECT')];
  assert.equal(
    proposeSchema(paths).replaceAll(/\s/g, ''),
    '{"type":"object","properties":{"a":{"type":["number","null"]},"b":{"type":"object","properties":{"__proto__":{"type":"string"}}},"c":{"type":["array","object"]}}}',
  );
});

test('an object with many members is taken for a map', () => {
  const members = Array.from({ length: 30 }, (_, index) => seen(['map', `n${index}`], 'STRING'));
  assert.match(proposeSchema([seen(['map'], 'OBJECT'), ...members]), /"map": \{\s*"type": "object"\s*\}/);
  assert.equal(proposeSchema([]), '{\n  "type": "object"\n}');
});
