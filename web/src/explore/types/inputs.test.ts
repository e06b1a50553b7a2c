import assert from 'node:assert/strict';
import { test } from 'node:test';
import { draftOf, emptyDraft, inputFor, jsonOf, keyOfValue, mistakeIn, switched, type InputKind } from './inputs';
import { Schema } from './schema';

const schema = (text: string) => Schema.parse(text) ?? assert.fail('no schema');

for (const [text, input] of [
  ['{"enum": ["a", 1]}', 'choice'],
  ['{"type": ["boolean", "null"]}', 'choice'],
  ['{"type": "string", "format": "date"}', 'date'],
  ['{"type": "string", "format": "date-time"}', 'time'],
  ['{"type": "string", "format": "uuid"}', 'line'],
  ['{"type": ["string", "null"]}', 'text'],
  ['{"type": "integer"}', 'number'],
  ['{"type": "integer", "x-reference": {"collection": "c", "as": "b"}}', 'reference'],
  ['{"type": ["string", "number"]}', 'json'],
  ['{"type": "object"}', 'json'],
  ['{}', 'json'],
] as [string, InputKind][]) {
  test(`${text} has the input ${input}`, () => assert.equal(inputFor(schema(text)), input));
}

for (const [text, json] of [
  ['{"type": "number"}', '-0.0'],
  ['{"type": "integer"}', '123456789012345678901234567890'],
  ['{"enum": [1.0, "1.0", null]}', '1.0'],
  ['{"type": "string", "format": "date"}', '"2026-11-26"'],
  ['{"type": "string", "format": "date-time"}', '"2026-11-26T08:30:06.280Z"'],
  ['{"type": "string"}', '"a\\nb"'],
  ['{"type": "string", "x-reference": {"collection": "c", "as": "b"}}', '"42"'],
  ['{"type": "string", "x-reference": {"collection": "c", "as": "b"}}', '"a b"'],
  ['{"type": "integer", "x-reference": {"collection": "c", "as": "b"}}', '42'],
] as const) {
  test(`${json} is edited in the input of ${text} and stays as it is`, () => {
    const draft = draftOf(json, schema(text));
    assert.equal(draft.input, inputFor(schema(text)));
    assert.equal(mistakeIn(draft), undefined);
    assert.equal(jsonOf(draft, schema(text)), json);
  });
}

for (const [text, json] of [
  ['{"type": "string", "format": "date-time"}', '"2026-11-26T09:30:06+01:00"'],
  ['{"type": "string", "format": "date-time"}', '"2026-11-26T08:30:06.123456Z"'],
  ['{"type": "string", "format": "date"}', '"yesterday"'],
  ['{"enum": ["a"]}', '"b"'],
  ['{"type": "number"}', '"5"'],
  ['{"type": ["number", "null"]}', 'null'],
  ['{"type": "string", "format": "uri"}', '"a\\r\\nb"'],
] as const) {
  test(`the input of ${text} cannot show ${json}, so it is edited without it`, () => {
    const draft = draftOf(json, schema(text));
    assert.notEqual(draft.input, inputFor(schema(text)));
    assert.equal(jsonOf(draft, schema(text)), json);
  });
}

test('a new value begins empty, and has to be given unless it is a string', () => {
  const mistakes = ['{"type": "boolean"}', '{"type": "integer"}', '{"type": "string", "format": "date"}', '{"type": "string"}'].map(
    (text) => mistakeIn(emptyDraft(schema(text))),
  );
  assert.deepEqual(mistakes, ['Choose a value', 'A value is required', 'A value is required', undefined]);
  assert.equal(emptyDraft(schema('{"type": "array"}')).typed, '[]');
  assert.equal(emptyDraft(undefined).input, 'text');
});

test('a time without seconds gets them, and is in UTC', () => {
  const time = schema('{"type": "string", "format": "date-time"}');
  assert.equal(jsonOf({ input: 'time', typed: '2026-11-26T08:30' }, time), '"2026-11-26T08:30:00Z"');
});

test('what is no number is a mistake', () => {
  for (const typed of ['x', '1,5', '01', '"1"', '1 2']) assert.equal(mistakeIn({ input: 'number', typed }), 'A number is expected');
  assert.equal(mistakeIn({ input: 'number', typed: ' 1e3 ' }), undefined);
});

test('a value is switched to JSON and back', () => {
  const state = schema('{"enum": ["a", "b"]}');
  const asJson = switched({ input: 'choice', typed: '"a"' }, state, true);
  assert.deepEqual(asJson, { input: 'json', typed: '"a"' });
  assert.deepEqual(switched(asJson, state, false), { input: 'choice', typed: '"a"' });
  assert.deepEqual(switched({ input: 'json', typed: '[1' }, state, false), { input: 'choice', typed: '' });
});

test('the key that a value refers to is written as the API writes it', () => {
  assert.equal(keyOfValue('"FRA"'), 'FRA');
  assert.equal(keyOfValue('"42"'), '"42"');
  assert.equal(keyOfValue('42'), '42');
  assert.equal(keyOfValue('1.5'), undefined);
  assert.equal(keyOfValue('null'), undefined);
});
