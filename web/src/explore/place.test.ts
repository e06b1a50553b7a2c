import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jsonPathOf, pointerOf, queryOf, shownName } from './place';

test('a pointer escapes ~ and /', () => assert.equal(pointerOf(['a/b', '~', '', 0]), '/a~1b/~0//0'));

test('a JSONPath quotes what is no name', () => {
  assert.equal(jsonPathOf(['a', 'b c', "it's", '\u0000', 3, '']), "$.a['b c']['it\\'s']['\\u0000'][3]['']");
});

test('invisible characters are shown as escapes', () => {
  assert.equal(shownName('a\u0000\u202eb\u{e0001}'), 'a\\u0000\\u202eb\\u{e0001}');
  assert.equal(shownName(''), '""');
  assert.equal(shownName('👩🏽'), '👩🏽');
});

test('a query has the key and the path as strings of GraphQL', () => {
  assert.match(queryOf('c"', '"2024"', ['\u0000', 0]), /id: "\\"2024\\"", collection: "c\\"", path: \["\\u0000",0\]/);
});
