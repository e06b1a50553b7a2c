import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stringAt } from './stringAt';

const at = (text: string) => stringAt(text.replace('|', ''), text.indexOf('|'));

test('the argument of the string at the cursor is found with its neighbours', () => {
  assert.deepEqual(at('{ document(id: "FRA", collection: "cou|") { value } }'), {
    argument: 'collection',
    field: 'document',
    typed: 'cou',
    collection: 'cou',
    id: 'FRA',
  });
  assert.deepEqual(at('{ document(id: "|", collection: "countries") { value } }'), {
    argument: 'id',
    field: 'document',
    typed: '',
    collection: 'countries',
    id: '',
  });
  assert.deepEqual(at('{ document(collection: "c\\"1", id: "x", path: "/name/|'), {
    argument: 'path',
    field: 'document',
    typed: '/name/',
    collection: 'c"1',
    id: 'x',
  });
});

test('the key of a typed field and the JSONPath of a filter are found', () => {
  const { argument, field, typed } = at('mutation { updateCountry(key: "F|", patch: {}) { key } }') ?? {};
  assert.deepEqual([argument, field, typed], ['key', 'updateCountry', 'F']);
  const filter = at('{ documents(collection: "countries", where: { all: [{ at: "$.na|" }] }) { nodes { key } } }');
  assert.deepEqual([filter?.argument, filter?.collection, filter?.typed], ['jsonPath', 'countries', '$.na']);
});

test('elsewhere there is nothing to complete', () => {
  assert.equal(at('{ docu|ment(id: "FRA") { value } }'), undefined);
  assert.equal(at('{ document(id: "FRA"|) { value } }'), undefined);
  assert.equal(at('{ documents(where: {startsWith: "x|"}) { nodes { key } } }'), undefined);
});
