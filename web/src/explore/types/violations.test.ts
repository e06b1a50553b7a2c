import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sayViolation, violationsAt, violationsElsewhere } from './violations';

const at = (place: string) => ({ place, expected: 'an integer', value: '"x"' });
const violations = [at('/a'), at('/a/b'), at('/ab'), at('')];

test('an error is shown at its field, or at the field of a value around it', () => {
  assert.deepEqual(violationsAt(violations, '/a').map(({ place }) => place), ['/a', '/a/b']);
  assert.deepEqual(violationsElsewhere(violations, ['/a', '/c']).map(({ place }) => place), ['/ab', '']);
  assert.deepEqual(violationsElsewhere(violations, ['']), []);
});

test('an error says what is expected, and where if that is below the field', () => {
  assert.equal(sayViolation(at('/a'), '/a'), 'Expected an integer, not "x".');
  assert.equal(sayViolation({ place: '/a/b', expected: 'a value' }, '/a'), 'Expected a value at /a/b.');
});
