import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Draft } from './inputs';
import { documentOf, fieldsOf, isComplete, membersOf } from './newDocument';
import { Schema } from './schema';

const schema = Schema.parse(`{
  "type": "object", "required": ["state", "name"],
  "properties": {
    "note": {"type": "string"},
    "name": {"type": "object", "required": ["common"], "properties": {"common": {"type": "string"}, "short": {"type": "string"}}},
    "size": {"type": "object", "required": ["width"], "properties": {"width": {"type": "integer"}, "unit": {"enum": ["m", "cm"]}}},
    "state": {"enum": ["draft", "published"]},
    "parent": {"$ref": "#"},
    "tags": {"type": "array"},
    "__proto__": {"type": "integer"}
  }
}`) ?? assert.fail('no schema');
const members = membersOf(schema);
const drafts = (...list: [string, Draft['input'], string][]) =>
  new Map(list.map(([pointer, input, typed]) => [pointer, { input, typed }]));

test('required members come first, and a type that contains itself ends', () => {
  assert.deepEqual(members.map(({ name }) => name), ['name', 'state', 'note', 'size', 'parent', 'tags', '__proto__']);
  const fields = fieldsOf(members);
  assert.ok(fields.includes('/name/common') && fields.includes('/parent/name/common') && fields.includes('/parent/parent/parent'));
  assert.ok(!fields.some((pointer) => pointer.split('/').length > 4));
});

test('a document has what is typed, and what is required', () => {
  assert.equal(documentOf(members, drafts(['/state', 'choice', '"draft"'])), '{"name":{"common":""},"state":"draft"}');
  const more = drafts(['/state', 'choice', '"draft"'], ['/size/unit', 'choice', '"m"'], ['/size/width', 'number', '10'], ['/__proto__', 'number', '1']);
  assert.equal(
    documentOf(members, more),
    '{"name":{"common":""},"state":"draft","size":{"width":10,"unit":"m"},"__proto__":1}',
  );
});

test('what an object requires has to be given only if the object is', () => {
  assert.equal(isComplete(members, drafts()), false);
  assert.equal(isComplete(members, drafts(['/state', 'choice', '"draft"'])), true);
  assert.equal(isComplete(members, drafts(['/state', 'choice', '"draft"'], ['/size/unit', 'choice', '"m"'])), false);
  assert.equal(isComplete(members, drafts(['/state', 'choice', '"draft"'], ['/tags', 'json', '[1'])), false);
});

test('a field that was emptied is left out again', () => {
  assert.equal(documentOf(members, drafts(['/state', 'choice', '"draft"'], ['/note', 'text', ''])), '{"name":{"common":""},"state":"draft"}');
});
