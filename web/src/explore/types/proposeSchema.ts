// A type that the documents of a sample fit, to begin with.
import type { JsonKind } from '../../api/generated';
import type { SampledPath } from '../collection/columns';
import type { Segment } from '../place';

const TYPES: Record<JsonKind, string> = {
  ARRAY: 'array',
  BOOLEAN: 'boolean',
  NULL: 'null',
  NUMBER: 'number',
  OBJECT: 'object',
  STRING: 'string',
};

/** More members than this are taken for the names of a map, of which the sample shows only some. */
const MEMBERS_MAX = 30;

/** JSON, indented. Nothing is required, and other members are allowed. */
export function proposeSchema(paths: readonly SampledPath[]): string {
  return JSON.stringify(objectOf(paths, []), undefined, 2);
}

function objectOf(paths: readonly SampledPath[], at: readonly Segment[]): object {
  const below = paths.filter(({ path }) => path.length === at.length + 1 && at.every((step, index) => path[index] === step));
  const names = below.filter(({ path }) => typeof path.at(-1) === 'string');
  if (names.length === 0 || names.length >= MEMBERS_MAX) return { type: 'object' };
  // A list of entries, because a member can be named `__proto__`.
  const properties = Object.fromEntries(names.map(({ path, kinds }) => [path.at(-1), schemaOf(paths, path, kinds)]));
  return { type: 'object', properties };
}

function schemaOf(paths: readonly SampledPath[], path: readonly Segment[], kinds: readonly JsonKind[]): object {
  if (kinds.length === 1 && kinds[0] === 'OBJECT') return objectOf(paths, path);
  const types = kinds.map((kind) => TYPES[kind]);
  return { type: types.length === 1 ? types[0] : types };
}
