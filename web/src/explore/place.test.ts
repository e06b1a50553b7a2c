import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contains, jsonPathOf, pathOfJsonPath, pathOfText, pointerOf, queryOf, shownName, textOfPath, trailOf, type Path } from './place';

test('a pointer escapes ~ and /', () => assert.equal(pointerOf(['a/b', '~', '', 0]), '/a~1b/~0//0'));

test('a JSONPath quotes what is no name', () => {
  assert.equal(jsonPathOf(['a', 'b c', "it's", '\u0000', 3, '']), "$.a['b c']['it\\'s']['\\u0000'][3]['']");
});

test('invisible characters are shown as escapes', () => {
  assert.equal(shownName('a\u0000\u202eb\u{e0001}'), 'a\\u0000\\u202eb\\u{e0001}');
  assert.equal(shownName(''), '""');
  assert.equal(shownName(' '), '" "');
  assert.equal(shownName(' \n'), ' \\u000a');
  assert.equal(shownName('👩🏽'), '👩🏽');
});

test('a query has the key and the path as strings of GraphQL', () => {
  assert.match(queryOf('c"', '"2024"', ['\u0000', 0]), /id: "\\"2024\\"", collection: "c\\"", path: \["\\u0000",0\]/);
});

const paths: Path[] = [[], [''], ['a', 'b/c~d'], ['list', 0], ['reviews', '42'], ['-'], ['"', '\u0000', '\u202e', '%', '#', '👩🏽']];
for (const path of paths) {
  test(`${JSON.stringify(path)} is read as it is written in an address`, () => {
    assert.deepEqual(pathOfText(textOfPath(path)), path);
  });
}

test('a pointer with digits stays text, because only the server knows what they are', () => {
  assert.equal(pathOfText('/reviews/42'), '/reviews/42');
  assert.equal(pathOfText('/list/-'), '/list/-');
  assert.deepEqual(pathOfText('/a~1b/~0'), ['a/b', '~']);
});

for (const text of ['a', '/~2', '{}', '[1.5]', '[null]', '["a"', '[["a"]]']) {
  test(`${text} is no path`, () => assert.equal(pathOfText(text), undefined));
}

test('a trail leads from the document to the place', () => {
  assert.deepEqual(trailOf(['a', '1']), [
    { name: '$', text: '' },
    { name: 'a', text: '/a' },
    { name: '1', text: '["a","1"]' },
  ]);
  assert.deepEqual(trailOf('/a~1b/1'), [
    { name: '$', text: '' },
    { name: 'a/b', text: '/a~1b' },
    { name: '1', text: '/a~1b/1' },
  ]);
});

test('a path contains itself and what is below it', () => {
  assert.equal(contains([], ['a']), true);
  assert.equal(contains(['a'], ['a', 'b']), true);
  assert.equal(contains(['a', 'b'], ['a']), false);
  assert.equal(contains(['a'], ['ab']), false);
});

for (const path of [[], ['a', 'b'], ['list', 0, 'x'], ["it's", '"', '\\', '\u0000', 'a.b', '']] as Path[]) {
  test(`the JSONPath of ${JSON.stringify(path)} is read as that path`, () => {
    assert.deepEqual(pathOfJsonPath(jsonPathOf(path)), path);
  });
}

test('a JSONPath of several places is no path', () => {
  assert.deepEqual(pathOfJsonPath('$["a\\"b"]'), ['a"b']);
  for (const text of ['', 'a', '$.', '$..a', '$.*', '$[*]', '$[-1]', '$[0:1]', '$[?@.a]', "$['\\q']"]) assert.equal(pathOfJsonPath(text), undefined);
});
