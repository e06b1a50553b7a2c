import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatJson, indented, jsonMistake, JsonText, RawJson } from './json';

test('text that is JSON already is written as it is', () => {
  const value = { document: new RawJson('-0.0'), list: [new RawJson('12345678901234567890'), 'a"b'], absent: undefined };
  assert.equal(formatJson(value), '{"document":-0.0,"list":[12345678901234567890,"a\\"b"]}');
});

test('a value is read as it is written, whatever its name', () => {
  const text = new JsonText('{"data":{"nodes":[{"value":{"__proto__":1e400,"10":1,"9":-0}},{"value":null}]}}');
  assert.equal(text.at(['data', 'nodes', 0, 'value']), '{"__proto__":1e400,"10":1,"9":-0}');
  assert.equal(text.at(['data', 'nodes', 1, 'value']), 'null');
  assert.equal(text.at(['data', 'nodes', 2, 'value']), undefined);
});

test('indenting keeps every value', () => {
  assert.equal(indented('{"b":-0.0,"a":[1.50,"\\u0000"]}'), '{\n  "b": -0.0,\n  "a": [\n    1.50,\n    "\\u0000"\n  ]\n}');
});

for (const text of ['1', '-0', '"\\u0000"', '{"":[]}', '123456789012345678901234567890', '{"__proto__":1}']) {
  test(`${text} is JSON`, () => assert.equal(jsonMistake(text), undefined));
}

for (const [text, mistake] of [
  ['', /expected/],
  ['France', /quotation marks at line 1, column 1/],
  ['[1,]', /expected/],
  ['{"a" 1}', /colon/],
  ['{"a":1,"b":{"x":1,"x":2}}', /"x" occurs twice at line 1, column 19/],
  ['[1', /bracket/],
  ['1 2', /follows/],
  ['01', /./],
  ['"a\tb"', /./],
  ['// note\n1', /./],
  ['NaN', /./],
] as const) {
  test(`${JSON.stringify(text)} is no JSON`, () => assert.match(jsonMistake(text) ?? '', mistake));
}
