import assert from 'node:assert/strict';
import { test } from 'node:test';
import { indexState } from './indexState';

test('the state of an index that is being built has the number of documents', () => {
  const building = (indexed: number | null) => indexState({ state: 'BUILDING', indexed, error: null }, 12_000);
  assert.equal(building(0), 'building: 0 of 12,000 documents');
  assert.equal(building(2_500), 'building: 2,500 of 12,000 documents');
  assert.equal(building(12_001), 'building: 12,000 of 12,000 documents');
  assert.equal(building(null), 'building');
  assert.equal(indexState({ state: 'BUILDING', indexed: 1, error: null }, null), 'building');
});

test('the state of a failed index has the reason', () => {
  assert.equal(indexState({ state: 'FAILED', indexed: null, error: 'too large' }, 1), 'failed: too large');
});
