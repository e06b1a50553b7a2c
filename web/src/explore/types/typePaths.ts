// The paths of a type: fields of filters, and columns of a table.
import type { JsonKind } from '../../api/generated';
import type { SampledPath } from '../collection/columns';
import { jsonPathOf, pointerOf, stepOf, type Path } from '../place';
import { jsonKindsOf, type Schema } from './schema';

/** A path that a condition can have. */
export interface FilterField {
  /** JSONPath. */
  at: string;
  kinds: readonly JsonKind[];
  /** Undefined if the type says nothing about it. */
  schema: Schema | undefined;
}

/** A type can contain itself, and can have thousands of members. */
const DEPTH_MAX = 4;
const FIELDS_MAX = 500;

/** The fields of the type, and what documents have where the type leaves that open. */
export function filterFields(schema: Schema | undefined, sampled: readonly SampledPath[]): FilterField[] {
  const fields: FilterField[] = [];
  if (schema) addFields(fields, schema, '$', 0);
  const known = new Set(fields.map(({ at }) => at));
  const open = sampled.filter(({ path }) => !schema?.at(path) && !known.has(jsonPathOf(path)));
  return [...fields, ...open.map(({ path, kinds }) => ({ at: jsonPathOf(path), kinds, schema: undefined }))];
}

function addFields(fields: FilterField[], schema: Schema, at: string, depth: number): void {
  if (fields.length >= FIELDS_MAX) return;
  if (at !== '$') fields.push({ at, kinds: jsonKindsOf(schema), schema });
  if (depth === DEPTH_MAX) return;
  for (const [name, below] of schema.properties) addFields(fields, below, `${at}${stepOf(name)}`, depth + 1);
  if (schema.others) addFields(fields, schema.others, `${at}.*`, depth + 1);
  if (schema.items) addFields(fields, schema.items, `${at}[*]`, depth + 1);
}

/** As deep as the sample of documents. */
const COLUMN_DEPTH = 2;

/** The members of the type and of the sample, those of most documents first. */
export function columnPaths(schema: Schema | undefined, sampled: readonly SampledPath[]): readonly SampledPath[] {
  if (!schema) return sampled;
  const seen = new Map(sampled.map((path) => [pointerOf(path.path), path]));
  const typed = memberPaths(schema, []).map(({ path, of }) => {
    const { count = 0, kinds = [] } = seen.get(pointerOf(path)) ?? {};
    const declared = jsonKindsOf(of);
    return { path, kinds: declared.length > 0 ? declared : [...kinds], count, depth: path.length };
  });
  const known = new Set(typed.map(({ path }) => pointerOf(path)));
  const others = sampled.filter(({ path }) => !known.has(pointerOf(path)));
  return [...typed, ...others].sort((one, other) => other.count - one.count);
}

function memberPaths(schema: Schema, at: Path): { path: Path; of: Schema }[] {
  if (at.length === COLUMN_DEPTH) return [];
  return schema.properties.flatMap(([name, of]) => {
    const path = [...at, name];
    return [{ path, of }, ...memberPaths(of, path)];
  });
}
