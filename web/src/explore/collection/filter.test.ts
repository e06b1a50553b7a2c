import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatJson } from '../../api/json';
import {
  filterOf,
  indexablePaths,
  indexNameOf,
  literalOf,
  NO_SEARCH,
  rooted,
  orderOf,
  searchedPaths,
  tableQuery,
  type Condition,
  type Operator,
  type Search,
} from './filter';

const condition = (at: string, operator: Operator, value = ''): Condition => ({ at, operator, value });
const filter = (...conditions: Condition[]) => formatJson(filterOf({ ...NO_SEARCH, conditions }, () => []));
const textOf = (search: Partial<Search>) => formatJson(filterOf({ ...NO_SEARCH, ...search }, () => []));

test('numbers keep their digits, and text needs no quotation marks', () => {
  assert.equal(literalOf(condition('$.a', 'eq', '12345678901234567890'), []), '12345678901234567890');
  assert.equal(literalOf(condition('$.a', 'eq', '-0'), ['NUMBER']), '-0');
  assert.equal(literalOf(condition('$.a', 'eq', 'France'), ['STRING']), '"France"');
  assert.equal(literalOf(condition('$.a', 'eq', '42'), ['STRING']), '"42"');
  assert.equal(literalOf(condition('$.a', 'eq', '"42"'), ['NUMBER']), '"42"');
  assert.equal(literalOf(condition('$.a', 'contains', '42'), ['NUMBER']), '"42"');
});

test('null is null where it was seen, and a string elsewhere', () => {
  assert.equal(literalOf(condition('$.a', 'eq', 'null'), ['STRING', 'NULL']), 'null');
  assert.equal(literalOf(condition('$.a', 'eq', 'null'), ['STRING']), '"null"');
  assert.equal(literalOf(condition('$.a', 'contains', 'null'), ['STRING', 'NULL']), '"null"');
  assert.equal(literalOf(condition('$.a', 'eq', '42'), ['STRING', 'NULL']), '"42"');
});

test('one condition is a filter, several are combined', () => {
  assert.equal(filter(), 'null');
  assert.equal(filter(condition('$.a', 'eq', '1')), '{"at":"$.a","eq":1}');
  assert.equal(
    filter(condition('$.a', 'missing'), condition('$.b', 'startsWith', 'x')),
    '{"all":[{"at":"$.a","exists":false},{"at":"$.b","startsWith":"x"}]}',
  );
});

for (const [at, expected] of [
  ['$.name.common', '$[?search($.name.common, "[fF]\\\\.")]'],
  ["$['a b'][0]", `$[?search($['a b'][0], "[fF]\\\\.")]`],
  ['$.borders[*]', '$.borders[?search(@, "[fF]\\\\.")]'],
  ['$.tags[*].name', '$.tags[?search(@.name, "[fF]\\\\.")]'],
  ['$..name', '$..[?search(@.name, "[fF]\\\\.")]'],
  ['$..*', '$..[?search(@, "[fF]\\\\.")]'],
] as const) {
  test(`any case at ${at}`, () => {
    assert.deepEqual(filterOf({ ...NO_SEARCH, conditions: [condition(at, 'containsAnyCase', 'f.')] }, () => []), {
      at: expected,
      exists: true,
    });
  });
}

test('a search in all strings is one more condition', () => {
  const anywhere = '{"at":"$..[?search(@, \\"[xX]\\")]","exists":true}';
  const [a, b] = [condition('$.a', 'eq', '1'), condition('$.b', 'exists')];
  assert.equal(textOf({}), 'null');
  assert.equal(textOf({ text: 'x' }), anywhere);
  assert.equal(textOf({ text: 'x', conditions: [a] }), `{"all":[{"at":"$.a","eq":1},${anywhere}]}`);
  assert.equal(
    textOf({ text: 'x', conditions: [a, b], match: 'any' }),
    `{"all":[{"any":[{"at":"$.a","eq":1},{"at":"$.b","exists":true}]},${anywhere}]}`,
  );
});

test('documents are sorted by a path or by their keys', () => {
  assert.deepEqual(orderOf({ by: ['a b'], descending: false }), [{ by: "$['a b']", descending: false }]);
  assert.deepEqual(orderOf({ by: null, descending: true }), [{ by: null, descending: true }]);
  assert.equal(orderOf(undefined), null);
});

test('an index serves equal values and one range', () => {
  const conditions = [condition('$.a', 'gt', '1'), condition('$.b', 'eq', '1'), condition('$.c', 'contains', 'x')];
  assert.deepEqual(indexablePaths({ ...NO_SEARCH, conditions }), ['$.b', '$.a']);
  assert.deepEqual(indexablePaths({ ...NO_SEARCH, conditions, match: 'any' }), []);
});

test('a search inside of strings is served by no index', () => {
  const conditions = [condition('$.a', 'contains', 'x'), condition('$.b', 'containsAnyCase', 'x'), condition('$.c', 'startsWith', 'x')];
  assert.deepEqual(searchedPaths({ ...NO_SEARCH, conditions }), ['$.a', '$.b']);
});

test('an index is named after its paths', () => {
  assert.equal(indexNameOf(['$.size.width', "$['a b']"]), 'size_width_a_b');
  assert.equal(indexNameOf(['$']), 'value');
});

test('the columns of a query have different names', () => {
  const { query } = tableQuery('c', null, undefined, [['name'], ['x', 'name'], ['a b']]);
  assert.match(query, /name: subdocument\(path: \["name"\]\)[^]*name2: [^]*column3: /);
});

test('a path without a root is of the whole document', () => {
  const paths = ['name.common', "['a b'].c", '.a', '$.a', '$', ''];
  assert.deepEqual(paths.map(rooted), ['$.name.common', "$['a b'].c", '$.a', '$.a', '$', '']);
});
