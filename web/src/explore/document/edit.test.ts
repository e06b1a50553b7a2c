import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inverseOf, isUntouched, versionAfter, type Edit } from './edit';
import { isPlainText, textOfString } from './strings';

const edits: Edit[] = [
  { kind: 'replace', path: ['a'], text: '1', before: '-0.0' },
  { kind: 'add', path: ['a', ''], text: '{}' },
  { kind: 'insert', path: ['list'], index: 3, text: '"x"' },
  { kind: 'remove', path: ['a'], inArray: false, before: '12345678901234567890' },
  { kind: 'remove', path: ['list', 3], inArray: true, before: 'null' },
  { kind: 'remove', path: [], inArray: false, before: '{}' },
];

for (const edit of edits) {
  test(`the inverse of the inverse of ${JSON.stringify(edit)} is the edit`, () => {
    const inverse = inverseOf(edit);
    assert.ok(inverse);
    assert.deepEqual(inverseOf(inverse), edit);
  });
}

test('an edit of an unknown value has no inverse', () => {
  assert.equal(inverseOf({ kind: 'replace', path: ['a'], text: '1', before: undefined }), undefined);
  assert.equal(inverseOf({ kind: 'remove', path: ['a'], inArray: false, before: undefined }), undefined);
});

test('an edit is sent again only if the value is the one that was shown', () => {
  const place = { id: 'd#/a', path: ['a'], kind: 'NUMBER' as const, length: null, version: '2' };
  const replace: Edit = { kind: 'replace', path: ['a'], text: '1', before: '0' };
  assert.equal(isUntouched(replace, { place, text: '0' }), true);
  assert.equal(isUntouched(replace, { place, text: '-0' }), false);
  assert.equal(isUntouched(replace, { place: null, text: undefined }), false);
  assert.equal(isUntouched({ ...replace, before: undefined }, { place, text: undefined }), false);
  assert.equal(isUntouched({ kind: 'add', path: ['a'], text: '1' }, { place: null, text: undefined }), true);
});

test('a string is edited as text unless a field would change it', () => {
  assert.equal(textOfString('"a\\nb"'), 'a\nb');
  assert.equal(isPlainText('"a\\n\\tb \\u202e"'), true);
  assert.equal(isPlainText('"a\\r\\nb"'), false);
  assert.equal(isPlainText('"\\u0000"'), false);
});

test('own edits of other places do not make what is shown outdated', () => {
  const own = new Map([['1', '2'], ['2', '5'], ['7', '8']]);
  assert.equal(versionAfter(own, '1'), '5');
  assert.equal(versionAfter(own, '5'), '5');
  assert.equal(versionAfter(own, '6'), '6');
  assert.equal(versionAfter(own, null), null);
});

test('an element is appended to an array whose length has not changed', () => {
  const array = { id: 'd#/a', path: ['a'], kind: 'ARRAY' as const, length: 2, version: '2' };
  const insert: Edit = { kind: 'insert', path: ['a'], index: 2, text: '1', length: 2 };
  assert.equal(isUntouched(insert, { place: array, text: undefined }), true);
  assert.equal(isUntouched(insert, { place: { ...array, length: 3 }, text: undefined }), false);
  assert.equal(isUntouched({ ...insert, index: 1 }, { place: array, text: undefined }), false);
  assert.equal(isUntouched(insert, { place: null, text: undefined }), false);
});
