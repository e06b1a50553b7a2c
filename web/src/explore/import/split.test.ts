import assert from 'node:assert/strict';
import { test } from 'node:test';
import { split } from './split';
import type { ReadText } from './textSource';

/** Returns a few characters at a time. */
function trickle(text: string, size: number): ReadText {
  let at = 0;
  return async () => (at >= text.length ? undefined : text.slice(at, (at += size)));
}

async function splitBy(text: string, size: number) {
  const pieces: [number, number, string][] = [];
  let format: string | undefined;
  let broken = '';
  try {
    for await (const piece of split(trickle(text, size))) {
      format = piece.format;
      pieces.push([piece.position.line, piece.position.column, piece.text]);
    }
  } catch (error) {
    broken = (error as Error).message;
  }
  return { format, pieces, broken };
}

/** The same for every size of chunks. */
async function check(text: string, format: string | undefined, expected: [number, number, string][], broken = /^$/) {
  for (let size = 1; size <= text.length + 1; size++) {
    const found = await splitBy(text, size);
    assert.deepEqual(found.pieces, expected, `${JSON.stringify(text)} by ${size}`);
    assert.equal(found.format, format, `${JSON.stringify(text)} by ${size}`);
    assert.match(found.broken, broken);
  }
}

test('elements end at their commas', async () => {
  await check('[]', undefined, []);
  await check(' [ \n ] ', undefined, []);
  await check('[1, "a,]\\"\\\\" ,\n {"b":[{},[]],"c":"["}\n,[1,2]]\n', 'array', [
    [1, 2, '1'],
    [1, 5, '"a,]\\"\\\\"'],
    [2, 2, '{"b":[{},[]],"c":"["}'],
    [3, 2, '[1,2]'],
  ]);
});

test('an invalid element does not affect others', async () => {
  await check('[1,,2]', 'array', [[1, 2, '1'], [1, 4, ''], [1, 5, '2']]);
  await check('[1,]', 'array', [[1, 2, '1'], [1, 4, '']]);
  await check('[{]},3]', 'array', [[1, 2, '{]}'], [1, 6, '3']]);
  await check('["a\\\n,3]', 'array', [[1, 2, '"a\\'], [2, 2, '3']]);
});

test('an array that is cut or followed by text says where', async () => {
  await check('[1,2', 'array', [[1, 2, '1']], /^Line 1, column 4: The array has no end\. The file ends in document 2/);
  await check('[1] x', 'array', [[1, 2, '1']], /^Line 1, column 5: There is text after the array/);
});

test('blank lines and carriage returns do not count', async () => {
  await check('{}\r\n\r\n \t\n  [1]  \n"a"', 'lines', [[1, 1, '{}'], [4, 3, '[1]'], [5, 1, '"a"']]);
  await check('\n\n', undefined, []);
});

for (const [text, format] of [
  ['{}', 'document'],
  ['{\n  "a": 1\n}\n', 'document'],
  ['{"a"\n:1}', 'document'],
  ['{"a": "}{\\""', 'document'],
  ['{}\n{}', 'lines'],
  ['{"a":"}\\\\"}\r\n\r\n{}\r\n', 'lines'],
  ['{"a":1\n{"a":2}\n', 'lines'],
  ['{"a":[\n{"a":2},\n{"a":3}\n]}\n', 'document'],
  ['\n[{},\n{}]\n', 'array'],
  ['[1]\n[2]\n', 'lines'],
  ['1', 'document'],
  ['"a"\n\n', 'document'],
  ['1\n2', 'lines'],
  ['{"id":"1","document":null}', 'export'],
  ['{ "document" : {} , "id" : "1" }\n{"id":"2","document":1}', 'export'],
  ['{"id":1,"document":null}\n', 'document'],
  ['{"id":"1","document":null,"more":1}\n1', 'lines'],
] as const) {
  test(`${JSON.stringify(text)} has the format ${format}`, async () => {
    for (let size = 1; size <= text.length + 1; size++) assert.equal((await splitBy(text, size)).format, format);
  });
}
