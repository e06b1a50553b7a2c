import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Format } from './detect';
import { argumentOf, keyed, NoKey } from './keys';

const keyOf = (text: string, member: string[] | null = null, format: Format = 'lines') => {
  const { key, generated } = keyed({ number: 3, position: { line: 3, column: 1 }, text }, format, { member, name: 'file' });
  return generated ? `generated ${key}` : key;
};

for (const [text, key] of [
  ['{"doc_id":"FRA"}', 'FRA'],
  ['{"doc_id":"42"}', '"42"'],
  ['{"doc_id":42}', '42'],
  ['{"doc_id":9223372036854775807}', '9223372036854775807'],
  ['{"doc_id":-9223372036854775808}', '-9223372036854775808'],
  ['{"doc_id":9223372036854775808}', 'generated file-3'],
  ['{"doc_id":1.5}', 'generated file-3'],
  ['{"doc_id":true}', 'generated file-3'],
  ['{"__proto__":{"doc_id":"x"}}', 'generated file-3'],
  ['[1]', 'generated file-3'],
  ['null', 'generated file-3'],
] as const) {
  test(`the key of ${text} is ${key}`, () => assert.equal(keyOf(text), key));
}

test('a file with one document needs no number', () => assert.equal(keyOf('{}', null, 'document'), 'generated file'));

test('a member is the key of every document', () => {
  assert.equal(keyOf('{"a":[{"b/c":12345678901234567}]}', ['a', '0', 'b/c']), '12345678901234567');
  for (const text of ['{}', '{"a":null}', '{"a":{}}', '1']) assert.throws(() => keyOf(text, ['a']), NoKey);
});

test('a line of an export has its key and its document', () => {
  const piece = { number: 1, position: { line: 1, column: 1 }, text: '{"id":"\\"42\\"","document":[1.50]}' };
  assert.deepEqual(keyed(piece, 'export', { member: null, name: 'file' }), { key: '"42"', generated: false, text: '[1.50]' });
  assert.throws(() => keyOf('{"id":"1"}', null, 'export'), NoKey);
  assert.equal(keyOf('{"id":"1","document":2}', ['document'], 'export'), '2');
});

test('a string is written as a key', () => {
  for (const text of ['', '1', '-5', '"a', '@0123456789abcdef01234567']) assert.equal(argumentOf(text), JSON.stringify(text));
  for (const text of ['a', '01', '1.5', '99999999999999999999', '@', '\u0000', '-0']) assert.equal(argumentOf(text), text);
});
