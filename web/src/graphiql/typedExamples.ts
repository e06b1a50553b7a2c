// Example queries and mutations of a collection with a type, with the values of one of its documents.
import { indented } from '../api/json';
import type { Example } from './sampleExamples';
import type { TypedCollection, TypedField } from './typedSchema';

/** A document that the examples are about. */
export interface ExampleDocument {
  key: string;
  /** JSON of members at the top, by the names of their fields. */
  values: ReadonlyMap<string, string>;
  /** JSON of all that the type requires; undefined if it is too much for an example. */
  required: string | undefined;
}

/** The fields that the type itself has in a document. */
const OF_DOCUMENT = ['id', 'key', 'version', 'document'];
const FIELDS_MAX = 8;
const INNER_FIELDS_MAX = 4;
const DEPTH_MAX = 3;
const ELEMENTS = 3;

/** Filters and orders that no index serves are fast in a collection of this size. */
const SMALL = 10_000;

export function typedExamples(of: TypedCollection, document: ExampleDocument, count: number): Example[] {
  const { type } = of;
  const key = JSON.stringify(document.key);
  return [
    { query: oneExample(of, key) },
    { query: pageExample(of, document, count <= SMALL), variables: '{\n  "after": null\n}' },
    ...updateExample(of, document, key),
    ...(document.required === undefined
      ? []
      : [{ query: createExample(of), variables: formatVariables(argumentOf(type), document.required) }]),
  ];
}

const oneExample = ({ type, one, fields }: TypedCollection, key: string) => `\
# The collection has a type, so its members are
# fields. Only what is selected is read.
# Ctrl-Enter runs this, Ctrl-Space completes,
# and the first icon on the left opens the docs.

query ${type} {
  ${one}(key: ${key}) {
    id
    version
${selectionOf(fields, '    ')}  }
}
`;

function pageExample({ many, fields }: TypedCollection, { values }: ExampleDocument, small: boolean): string {
  const compared = comparedField(fields, values);
  const where = compared && `    where: { ${compared.name}: { eq: ${literalOf(compared, values.get(compared.name) ?? '')} } }\n`;
  const sorted = fields.find(({ list, type }) => !list && (type === 'Int' || type === 'Float' || type === 'BigInteger'));
  const order = `    orderBy: [{ ${sorted && small ? `${sorted.name}: DESC` : 'key: ASC'} }]\n`;
  return `\
# The documents that match a filter, a page at a
# time. Names and values are completed and checked.
# For the next page, replace null under "Variables"
# below with endCursor, in quotes.

query ${many[0]?.toUpperCase()}${many.slice(1)}($after: String) {
  ${many}(
${small ? (where ?? '') : ''}${order}    first: 5
    after: $after
  ) {
    nodes {
      key
${selectionOf(scalarsOf(fields).slice(0, 3), '      ')}    }
    pageInfo {
      hasNextPage
      endCursor
    }

    # The index that was used. Without one, the
    # documents are examined one by one.
    plan {
      index
      scanned
      returned
    }
  }
}
`;
}

/** It stores a value that is there, so that it can be tried without harm. */
function updateExample({ type, fields }: TypedCollection, { values }: ExampleDocument, key: string): Example[] {
  const changed = comparedField(fields, values);
  if (!changed) return [];
  const query = `\
# A merge patch: a member that is not given is
# unchanged, and null removes it. This one stores
# the value that is there, so nothing changes
# until you edit it. A value that does not fit is
# rejected, with its place.

mutation Update${type} {
  update${type}(
    key: ${key}
    patch: { ${changed.name}: ${literalOf(changed, values.get(changed.name) ?? '')} }
  ) {
    id
    version
    ${changed.name}
  }
}
`;
  return [{ query }];
}

/** Both fields are one transaction, so that no document remains. */
const createExample = ({ type }: TypedCollection) => `\
# What the type requires is under "Variables".
# The fields of a mutation are one transaction,
# and the second one deletes the document again:
# remove it to keep the document.

mutation Create${type}($${argumentOf(type)}: ${type}Input!) {
  create${type}(key: "example", ${argumentOf(type)}: $${argumentOf(type)}) {
    key
    version
  }
  delete${type}(key: "example") {
    deleted
  }
}
`;

const formatVariables = (name: string, json: string) => indented(`{${JSON.stringify(name)}:${json}}`);

/** The argument of `createX` that has the document. */
export const argumentOf = (type: string) => `${type[0]?.toLowerCase()}${type.slice(1)}`;

/** A value of any size is not selected without being asked for. */
const isScalar = ({ list, composite, type }: TypedField) => !list && !composite && type !== 'JSON';

const scalarsOf = (fields: readonly TypedField[]) => fields.filter((field) => isScalar(field) && !OF_DOCUMENT.includes(field.name));

/** The fields whose values the examples compare and change: enums first. */
export function valueFields(fields: readonly TypedField[]): TypedField[] {
  const scalars = scalarsOf(fields).filter(({ type, values }) => values.length > 0 || ['String', 'Int', 'Boolean'].includes(type));
  return scalars.sort((one, other) => Number(other.values.length > 0) - Number(one.values.length > 0));
}

const comparedField = (fields: readonly TypedField[], values: ExampleDocument['values']) =>
  valueFields(fields).find(({ name }) => !['', 'null'].includes(values.get(name) ?? ''));

/** The JSON of a value as a literal of GraphQL. */
const literalOf = ({ values }: TypedField, json: string) => (values.length > 0 ? String(JSON.parse(json)) : json);

/** Selects what the type requires, which is then an input of the type; undefined if it is too deep. */
export function requiredSelection(fields: readonly TypedField[], depth = 1): string | undefined {
  const own = depth === 1 ? fields.filter(({ name }) => !OF_DOCUMENT.includes(name)) : fields;
  const required = own.filter(({ required }) => required);
  const selected = required.length > 0 || depth === 1 ? required : own.filter(isScalar).slice(0, 1);
  const texts = selected.map((field) => {
    if (!field.fields) return field.composite ? undefined : field.name;
    const below = depth < DEPTH_MAX ? requiredSelection(field.fields, depth + 1) : undefined;
    return below && `${field.name} { ${below} }`;
  });
  return texts.length === 0 || texts.includes(undefined) ? undefined : texts.join(' ');
}

/** What a selection set has, with a few elements of each list. */
export function selectionOf(fields: readonly TypedField[], indent: string, depth = 1): string {
  const selected = fields.filter(({ name }) => depth > 1 || !OF_DOCUMENT.includes(name)).slice(0, depth === 1 ? FIELDS_MAX : INNER_FIELDS_MAX);
  return selected.map((field) => fieldOf(field, indent, depth)).join('');
}

function fieldOf(field: TypedField, indent: string, depth: number): string {
  const { name, args, composite, fields = [], type } = field;
  const bounded = args.includes('first') ? `${name}(first: ${ELEMENTS})` : name;
  if (type === 'JSON') return '';
  if (!composite) return `${indent}${bounded}\n`;
  const below = depth < DEPTH_MAX ? selectionOf(fields, `${indent}  `, depth + 1) : '';
  return below === '' ? '' : `${indent}${bounded} {\n${below}${indent}}\n`;
}
