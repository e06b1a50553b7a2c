// The GraphQL types of collections, from what introspection says. Values to values.

/** A field of a document, or of an object in it. */
export interface TypedField {
  name: string;
  /** The names of its arguments. */
  args: readonly string[];
  list: boolean;
  /** Whether every document has it. */
  required: boolean;
  /** The type of the value, or of an element. */
  type: string;
  /** Of an enum. */
  values: readonly string[];
  /** Of an object; undefined if they are not read. */
  fields: readonly TypedField[] | undefined;
  /** Whether the value has fields, read or not. */
  composite: boolean;
}

/** A type of documents with its fields of `Query`. */
export interface TypedCollection {
  type: string;
  /** Returns one document. */
  one: string;
  /** Returns pages. */
  many: string;
  fields: readonly TypedField[];
}

export interface RootFields {
  type: string;
  one: string;
  many: string;
}

interface TypeReference {
  kind: string;
  name: string | null;
  ofType?: TypeReference | null;
}

export interface IntrospectedField {
  name: string;
  args: { name: string }[];
  type: TypeReference;
}

export interface IntrospectedType {
  fields: IntrospectedField[] | null;
  enumValues: { name: string }[] | null;
}

/** A field with the only argument `key` returns a document, and one with a type `…Connection` its pages. */
export function rootFieldsOf(fields: readonly IntrospectedField[]): RootFields[] {
  return fields.flatMap(({ name: one, args, type }) => {
    if (args.map(({ name }) => name).join() !== 'key') return [];
    const document = leafOf(type);
    const many = fields.find((other) => leafOf(other.type) === `${document}Connection` && other.name !== 'documents');
    return many ? [{ type: document, one, many: many.name }] : [];
  });
}

/** The fields of a type with those of so many levels of objects in it, as far as they are known. */
export function fieldsOf(type: string, known: ReadonlyMap<string, IntrospectedType>, levels: number): TypedField[] | undefined {
  const fields = known.get(type)?.fields;
  if (!fields || levels < 0) return undefined;
  return fields.map(({ name, args, type }) => ({
    name,
    args: args.map(({ name }) => name),
    list: isList(type),
    required: type.kind === 'NON_NULL',
    type: leafOf(type),
    composite: kindOf(type) === 'OBJECT',
    values: known.get(leafOf(type))?.enumValues?.map(({ name }) => name) ?? [],
    fields: fieldsOf(leafOf(type), known, levels - 1),
  }));
}

/** The name of a type without its lists. */
export function leafOf(type: TypeReference): string {
  return type.ofType ? leafOf(type.ofType) : (type.name ?? '');
}

function isList(type: TypeReference): boolean {
  return type.kind === 'LIST' || (type.ofType != null && isList(type.ofType));
}

/** The kind of a type without its lists. */
export function kindOf(type: TypeReference): string {
  return type.ofType ? kindOf(type.ofType) : type.kind;
}
