import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectationOf, jsonKindsOf, Schema } from './schema';

const parse = (text: string) => Schema.parse(text) ?? assert.fail('no schema');

const product = parse(`{
  "title": "Product", "type": "object", "required": ["name"],
  "properties": {
    "name": {"type": "string", "maxLength": 200},
    "price": {"type": ["number", "null"], "minimum": 0.10, "maximum": 123456789012345678901},
    "state": {"enum": ["draft", 1.0, null]},
    "one": {"const": true},
    "size": {"$ref": "#/$defs/size", "description": "Outside."},
    "parent": {"$ref": "#"},
    "names": {"type": "object", "additionalProperties": {"type": "string"}},
    "tags": {"type": "array", "items": {"type": "string"}},
    "pair": {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "integer"}], "items": false},
    "maker": {"type": "string", "x-reference": {"collection": "makers", "as": "maker"}},
    "__proto__": {"type": "boolean", "deprecated": true},
    "extra": true
  },
  "$defs": {"size": {"$ref": "#/$defs/box~1"}, "box/": {"type": "object", "description": "A box.", "properties": {"width": {"type": "integer"}}}}
}`);

test('numbers in a schema keep their digits', () => {
  assert.deepEqual(product.at(['price'])?.bounds, ['at least 0.10', 'at most 123456789012345678901']);
  assert.deepEqual(product.at(['state'])?.values, ['"draft"', '1.0', 'null']);
});

test('kinds are those of the type, or of the only values', () => {
  assert.deepEqual(product.at(['price'])?.kinds, ['number', 'null']);
  assert.deepEqual(product.at(['state'])?.kinds, ['string', 'number', 'null']);
  assert.deepEqual(product.at(['one'])?.values, ['true']);
  assert.deepEqual(jsonKindsOf(product.at(['size', 'width']) ?? product), ['NUMBER']);
});

test('references are followed, and a description beside one comes first', () => {
  assert.equal(product.at(['size'])?.description, 'Outside.');
  assert.deepEqual(product.at(['size', 'width'])?.kinds, ['integer']);
  assert.equal(product.at(['parent', 'parent', 'name'])?.kinds[0], 'string');
  assert.equal(Schema.parse('{"$ref": "#/$defs/nothing"}')?.kinds.length, 0);
  assert.equal(Schema.parse('{"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}')?.kinds.length, 0);
});

test('maps and arrays have the same schema everywhere', () => {
  assert.deepEqual(product.at(['names', 'any/name'])?.kinds, ['string']);
  assert.deepEqual(product.at(['tags', 7])?.kinds, ['string']);
  assert.deepEqual(product.at(['pair', 1])?.kinds, ['integer']);
});

test('nothing is known of what the type leaves open', () => {
  for (const path of [['extra', 'x'], ['unknown'], ['name', 'x'], [0], ['tags', 'x']]) assert.equal(product.at(path), undefined);
});

test('any name of a member is found', () => {
  assert.equal(product.at(['__proto__'])?.deprecated, true);
  assert.equal(product.at(['constructor']), undefined);
});

test('what a value must be is said in words', () => {
  assert.equal(expectationOf(product.at(['name']) ?? product), 'string, at most 200 characters');
  assert.equal(expectationOf(product.at(['maker']) ?? product), 'string, key of makers');
  assert.equal(expectationOf(parse('{"type": ["integer", "null"], "minItems": 1}')), 'whole number or null, at least 1 element');
  assert.equal(expectationOf(product.at(['state']) ?? product), '');
});

test('a text that is no object is no schema', () => {
  for (const text of ['', 'true', '[]', '{']) assert.equal(Schema.parse(text)?.properties.length ?? 0, 0);
});
