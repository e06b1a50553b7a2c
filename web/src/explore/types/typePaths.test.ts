import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstColumns, type SampledPath } from '../collection/columns';
import { Schema } from './schema';
import { columnPaths, filterFields } from './typePaths';

const schema = Schema.parse(`{
  "type": "object",
  "properties": {
    "name": {"type": "object", "properties": {"common": {"type": "string"}}},
    "tags": {"type": "array", "items": {"type": "object", "properties": {"a b": {"type": ["integer", "null"]}}}},
    "languages": {"type": "object", "additionalProperties": {"type": "string"}},
    "self": {"$ref": "#"},
    "open": true
  }
}`) ?? assert.fail('no schema');
const seen = (path: string[], count: number): SampledPath => ({ path, kinds: ['STRING'], count, depth: path.length });

test('fields are those of the type, with the elements of lists and the values of maps', () => {
  const fields = filterFields(schema, []);
  const at = fields.map(({ at }) => at);
  for (const path of ['$.name.common', "$.tags[*]['a b']", '$.languages.*', '$.self.self.name.common']) assert.ok(at.includes(path), path);
  assert.deepEqual(fields.find(({ at }) => at.endsWith("['a b']"))?.kinds, ['NUMBER', 'NULL']);
  assert.ok(!at.some((path) => path.startsWith('$.self.self.self.self.self')));
});

test('what documents have is a field where the type leaves it open', () => {
  const fields = filterFields(schema, [seen(['open', 'x'], 1), seen(['other'], 1), seen(['name', 'common'], 1), seen(['languages', 'fra'], 1)]);
  assert.deepEqual(fields.filter(({ schema }) => !schema).map(({ at }) => at), ['$.open.x', '$.other']);
  assert.deepEqual(filterFields(undefined, [seen(['a'], 1)]), [{ at: '$.a', kinds: ['STRING'], schema: undefined }]);
});

test('columns are members of the type, those that documents have first', () => {
  const paths = columnPaths(schema, [seen(['other'], 9), seen(['name', 'common'], 5)]);
  assert.deepEqual(paths.slice(0, 2).map(({ path }) => path.join('.')), ['other', 'name.common']);
  assert.ok(paths.some(({ path }) => path.join('.') === 'tags'));
  assert.deepEqual(firstColumns(paths).slice(0, 2), [['other'], ['name', 'common']]);
  assert.equal(columnPaths(undefined, paths), paths);
});
