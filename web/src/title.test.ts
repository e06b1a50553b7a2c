import assert from 'node:assert/strict';
import { test } from 'node:test';
import { partsOf } from './route';
import { titleOf } from './title';

for (const [hash, title] of [
  ['', 'Phyllo'],
  ['#/graphiql', 'GraphiQL · Phyllo'],
  ['#/c/countries', 'countries · Phyllo'],
  ['#/c/a%2Fb/FRA/%2Fname', '/name · FRA · a/b · Phyllo'],
  ['#/c/%00', '\\u0000 · Phyllo'],
] as const) {
  test(`the title at ${hash}`, () => assert.equal(titleOf(partsOf(hash)), title));
}
