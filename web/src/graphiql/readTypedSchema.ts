// Reads the GraphQL types of collections, as introspection shows them to this caller.
import { TypedDocumentString } from '../api/generated';
import { request } from '../api/request';
import { fieldsOf, kindOf, leafOf, rootFieldsOf } from './typedSchema';
import type { IntrospectedField, IntrospectedType, RootFields, TypedCollection } from './typedSchema';

const FIELD = `name args { name } type { ...Type }`;
const TYPE = `fragment Type on __Type { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name } } } } }`;

/** The pairs of fields that return documents of a type. Empty if the server answers no introspection. */
export async function readRootFields(): Promise<RootFields[]> {
  const query = new TypedDocumentString<{ __schema: { queryType: { fields: IntrospectedField[] } } | null }, object>(
    `query RootFields { __schema { queryType { fields { ${FIELD} } } } } ${TYPE}`,
  );
  const { __schema: schema } = await request(query, {});
  return schema ? rootFieldsOf(schema.queryType.fields) : [];
}

/** Levels of objects inside a document, and types in them, that examples can select. */
const LEVELS = 3;
const TYPES_MAX = 30;

export async function readTypedCollection(root: RootFields): Promise<TypedCollection> {
  const known = new Map<string, IntrospectedType>();
  let wanted = [root.type];
  for (let level = 0; level <= LEVELS && wanted.length > 0; level++) {
    const found = await readTypes(wanted);
    found.forEach((type, name) => known.set(name, type));
    const below = [...found.values()].flatMap(({ fields }) => fields ?? []).filter(({ type }) => ['OBJECT', 'ENUM'].includes(kindOf(type)));
    wanted = [...new Set(below.map(({ type }) => leafOf(type)))].filter((name) => name !== 'Document' && !known.has(name)).slice(0, TYPES_MAX);
  }
  return { ...root, fields: fieldsOf(root.type, known, LEVELS) ?? [] };
}

async function readTypes(names: readonly string[]): Promise<Map<string, IntrospectedType>> {
  const types = names.map((name, index) => `t${index}: __type(name: ${JSON.stringify(name)}) { fields { ${FIELD} } enumValues { name } }`);
  const query = new TypedDocumentString<Record<string, IntrospectedType | null>, object>(`query Types { ${types.join(' ')} } ${TYPE}`);
  const data = await request(query, {});
  return new Map(names.flatMap((name, index) => {
    const type = data[`t${index}`];
    return type ? [[name, type]] : [];
  }));
}
