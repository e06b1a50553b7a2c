/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { DocumentTypeDecoration } from '@graphql-typed-document-node/core';
/** What happened to a document or a collection. */
export type DocumentChangeKind =
  /** One commit changed so many documents of the collection that the log does not name them. */
  | 'COLLECTION_CHANGED'
  /** The collection was dropped with all of its documents. */
  | 'COLLECTION_DROPPED'
  /** The document was created. */
  | 'CREATED'
  /** The document was deleted. */
  | 'DELETED'
  /** The document was changed. */
  | 'UPDATED';

/** What a new type of a collection means for its stored documents. */
export type DocumentCollectionTypeEffect =
  /** All stored documents certainly fit: there are none, or they fit the type before, and every document that fits it fits the new one. */
  | 'COMPATIBLE'
  /** The stored documents are checked in the background. */
  | 'NEEDS_CHECK'
  /** The collection has this type already. */
  | 'UNCHANGED';

/** Whether the stored documents of a collection fit its type. Writes are validated in every state. */
export type DocumentCollectionTypeState =
  /** Documents that were stored before the type are being checked while writes continue. */
  | 'CHECKING'
  /** All documents fit. */
  | 'ENFORCED'
  /** Some stored documents do not fit; `violations` has the places. Correct them and set the type again. */
  | 'FAILED';

/** A document matches if a single value that `at` selects passes every test; without `at`, the whole document is tested. `lt`, `lte`, `gt`, `gte`, `startsWith` and `contains` match only values of the same type. Equality is deep and compares numbers by value; `ne` matches every value that is not equal. A test with null compares with null. `exists: false` matches if `at` selects nothing, and excludes other tests. `all`, `any` and `not` combine filters on the document. An empty filter matches every document. */
export type DocumentFilter = {
  /** Every one of these filters matches. */
  all?: Array<DocumentFilter> | null | undefined;
  /** At least one of these filters matches. */
  any?: Array<DocumentFilter> | null | undefined;
  /** Selects the values to test. Requires a test. */
  at?: string | null | undefined;
  /** A string that contains this one, compared by code points; every string contains the empty string. No index supports this test. */
  contains?: string | null | undefined;
  /** Equal to this. */
  eq?: unknown;
  /** Whether `at` selects anything. */
  exists?: boolean | null | undefined;
  /** Greater than this. */
  gt?: unknown;
  /** Greater than or equal to this. */
  gte?: unknown;
  /** Equal to one of these. */
  in?: Array<unknown> | null | undefined;
  /** Less than this. */
  lt?: unknown;
  /** Less than or equal to this. */
  lte?: unknown;
  /** Not equal to this. */
  ne?: unknown;
  /** This filter does not match. */
  not?: DocumentFilter | null | undefined;
  /** A string that begins with this. */
  startsWith?: string | null | undefined;
};

/** Whether queries use an index. */
export type DocumentIndexState =
  /** The index is being built while writes continue. Queries ignore it. A unique index already rejects writes that violate it. */
  | 'BUILDING'
  /** The index cannot contain some document; `error` names the document and the reason. The index is no longer maintained: drop it and create it again. */
  | 'FAILED'
  /** Queries use the index. */
  | 'READY';

/** A document matches if its key passes every test. Keys are written as in `document(id:)`: `2024` is an integer, `2024-05` and `"2024"`, with its quotation marks, are strings. All strings sort by code point before all integers, and versionstamps sort after both. So bounds of different kinds span kinds: `{gte: "2024-05", lt: "2025"}` has the strings from `2024-05` on and the integers before 2025, and `{gte: "2024", lt: "2024-05"}` has no key. An empty filter matches every document. */
export type DocumentKeyFilter = {
  /** After this key, of any kind. If it is a string, every integer is after it. Excludes `gte`. */
  gt?: string | number | null | undefined;
  /** After or equal to this key, of any kind. If it is a string, every integer is after it. */
  gte?: string | number | null | undefined;
  /** Equal to one of these keys, at most 1,000. */
  in?: Array<string | number> | null | undefined;
  /** Before this key, of any kind. If it is an integer, every string is before it. Excludes `lte`. */
  lt?: string | number | null | undefined;
  /** Before or equal to this key, of any kind. If it is an integer, every string is before it. */
  lte?: string | number | null | undefined;
  /** A string that begins with this. Only strings match. The text of an integer or of a versionstamp is an error: write digits as a JSON string, with its quotation marks. */
  prefix?: string | null | undefined;
};

/** An order by the value that `by` selects; without `by`, by the key of the document, after which no other order may follow. Documents in which `by` selects nothing are left out. If `by` selects several values, the least one counts (descending: the greatest). Documents with equal values are sorted by the next order of the list, and at the end by key, in the direction of the last order. The order of values is null, booleans, numbers by value, strings by code point, then objects and arrays, of which only equal ones are guaranteed to be adjacent. */
export type DocumentOrder = {
  /** Selects the value to sort by. The key if absent. */
  by?: string | null | undefined;
  /** Whether to sort from the greatest to the least. */
  descending?: boolean;
};

/** The kinds of JSON values. */
export type JsonKind =
  /** An array, empty or not. */
  | 'ARRAY'
  /** `true` or `false`. */
  | 'BOOLEAN'
  /** A stored null. */
  | 'NULL'
  /** A number, integer or not. */
  | 'NUMBER'
  /** An object, empty or not. */
  | 'OBJECT'
  /** A string. */
  | 'STRING';

export type CollectionsQueryVariables = Exact<{ [key: string]: never; }>;


export type CollectionsQuery = { collections: Array<{ name: string, count: number, indexes: Array<{ name: string, on: Array<string>, unique: boolean, where: unknown, state: DocumentIndexState, indexed: number | null, error: string | null }>, type: { state: DocumentCollectionTypeState, checked: number | null } | null }> };

export type CollectionTypeQueryVariables = Exact<{
  name: string;
}>;


export type CollectionTypeQuery = { collections: Array<{ type: { schema: unknown, state: DocumentCollectionTypeState, violations: Array<{ key: string, place: string, expected: string, value: string | null }> } | null }> };

export type SampleQueryVariables = Exact<{
  collection: string;
}>;


export type SampleQuery = { documents: { nodes: Array<{ key: string, kind: JsonKind, children: { nodes: Array<{ path: ReadonlyArray<string | number>, kind: JsonKind, children: { nodes: Array<{ path: ReadonlyArray<string | number>, kind: JsonKind }> } }> } }> } };

export type RowsQueryVariables = Exact<{
  collection: string;
  where?: DocumentFilter | null | undefined;
  keys?: DocumentKeyFilter | null | undefined;
  orderBy?: Array<DocumentOrder> | DocumentOrder | null | undefined;
  first: number;
  after?: string | null | undefined;
  scanLimit?: number | null | undefined;
  withPlan: boolean;
  c0: ReadonlyArray<string | number> | string;
  c1: ReadonlyArray<string | number> | string;
  c2: ReadonlyArray<string | number> | string;
  c3: ReadonlyArray<string | number> | string;
  c4: ReadonlyArray<string | number> | string;
  c5: ReadonlyArray<string | number> | string;
  c6: ReadonlyArray<string | number> | string;
  c7: ReadonlyArray<string | number> | string;
  with0: boolean;
  with1: boolean;
  with2: boolean;
  with3: boolean;
  with4: boolean;
  with5: boolean;
  with6: boolean;
  with7: boolean;
}>;


export type RowsQuery = { changesCursor: string | null, documents: { nodes: Array<{ key: string, c0?: { id: string, path: ReadonlyArray<string | number>, kind: JsonKind, length: number | null, version: string | null } | null, c1?: { id: string, path: ReadonlyArray<string | number>, kind: JsonKind, length: number | null, version: string | null } | null, c2?: { id: string, path: ReadonlyArray<string | number>, kind: JsonKind, length: number | null, version: string | null } | null, c3?: { id: string, path: ReadonlyArray<string | number>, kind: JsonKind, length: number | null, version: string | null } | null, c4?: { id: string, path: ReadonlyArray<string | number>, kind: JsonKind, length: number | null, version: string | null } | null, c5?: { id: string, path: ReadonlyArray<string | number>, kind: JsonKind, length: number | null, version: string | null } | null, c6?: { id: string, path: ReadonlyArray<string | number>, kind: JsonKind, length: number | null, version: string | null } | null, c7?: { id: string, path: ReadonlyArray<string | number>, kind: JsonKind, length: number | null, version: string | null } | null }>, pageInfo: { hasNextPage: boolean, endCursor: string | null }, plan?: { index: string | null, scanned: number, examined: number, covered: boolean, returned: number } } };

export type PlaceFragment = { id: string, path: ReadonlyArray<string | number>, kind: JsonKind, length: number | null, version: string | null };

export type RootQueryVariables = Exact<{
  collection: string;
  id: string | number;
  path: ReadonlyArray<string | number> | string;
}>;


export type RootQuery = { changesCursor: string | null, document: { id: string, path: ReadonlyArray<string | number>, kind: JsonKind, length: number | null, version: string | null } | null };

export type LevelQueryVariables = Exact<{
  collection: string;
  id: string | number;
  path: ReadonlyArray<string | number> | string;
  first: number;
  after?: string | null | undefined;
  from?: string | number | null | undefined;
}>;


export type LevelQuery = { document: { id: string, path: ReadonlyArray<string | number>, kind: JsonKind, length: number | null, version: string | null, children: { nodes: Array<{ id: string, path: ReadonlyArray<string | number>, kind: JsonKind, length: number | null, version: string | null }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } } | null };

export type PlacesQueryVariables = Exact<{
  ids: Array<string | number> | string | number;
}>;


export type PlacesQuery = { nodes: Array<
    | { id: string, path: ReadonlyArray<string | number>, kind: JsonKind, length: number | null, version: string | null }
    | Record<PropertyKey, never>
   | null> };

export type ValuesQueryVariables = Exact<{
  ids: Array<string | number> | string | number;
}>;


export type ValuesQuery = { nodes: Array<
    | { id: string, value: unknown }
    | Record<PropertyKey, never>
   | null> };

export type CurrentQueryVariables = Exact<{
  collection: string;
  id: string | number;
  path: ReadonlyArray<string | number> | string;
}>;


export type CurrentQuery = { document: { value: unknown, id: string, path: ReadonlyArray<string | number>, kind: JsonKind, length: number | null, version: string | null } | null };

export type SelectQueryVariables = Exact<{
  collection: string;
  id: string | number;
  path: ReadonlyArray<string | number> | string;
  query: string;
}>;


export type SelectQuery = { document: { select: Array<{ id: string, path: ReadonlyArray<string | number>, kind: JsonKind, length: number | null, version: string | null }> } | null };

export type TryQueryVariables = Exact<{
  collection: string;
  query: string;
}>;


export type TryQuery = { documents: { nodes: Array<{ key: string, select: Array<{ id: string, path: ReadonlyArray<string | number>, kind: JsonKind, length: number | null, version: string | null }> }> } };

export type AccessMutationVariables = Exact<{ [key: string]: never; }>;


export type AccessMutation = { __typename: 'Mutation' };

export type ReplaceMutationVariables = Exact<{
  collection: string;
  id: string | number;
  path: ReadonlyArray<string | number> | string;
  document?: unknown;
  ifVersion?: string | null | undefined;
}>;


export type ReplaceMutation = { replaceDocument: { version: string | null } };

export type PatchMutationVariables = Exact<{
  collection: string;
  id: string | number;
  path: ReadonlyArray<string | number> | string;
  patch?: unknown;
  ifVersion?: string | null | undefined;
}>;


export type PatchMutation = { patchDocument: { version: string | null } };

export type RemoveMutationVariables = Exact<{
  collection: string;
  id: string | number;
  path: ReadonlyArray<string | number> | string;
  ifVersion?: string | null | undefined;
  withVersion: boolean;
}>;


export type RemoveMutation = { deleteDocument: { deleted: boolean, document?: { version: string | null } | null } };

export type InsertMutationVariables = Exact<{
  collection: string;
  id?: string | number | null | undefined;
  document?: unknown;
}>;


export type InsertMutation = { insertDocument: { key: string, version: string | null } };

export type CreateIndexMutationVariables = Exact<{
  collection: string;
  name: string;
  on: Array<string> | string;
  unique?: boolean;
}>;


export type CreateIndexMutation = { createIndex: { name: string, state: DocumentIndexState } };

export type DropIndexMutationVariables = Exact<{
  collection: string;
  name: string;
}>;


export type DropIndexMutation = { dropIndex: boolean };

export type SetTypeMutationVariables = Exact<{
  collection: string;
  schema: unknown;
  dryRun?: boolean;
}>;


export type SetTypeMutation = { setCollectionType: { effect: DocumentCollectionTypeEffect, state: DocumentCollectionTypeState, examined: number | null, complete: boolean, violations: Array<{ key: string, place: string, expected: string, value: string | null }> } };

export type DropTypeMutationVariables = Exact<{
  collection: string;
}>;


export type DropTypeMutation = { dropCollectionType: boolean };

export type ChangesSubscriptionVariables = Exact<{
  collection: string;
  id?: string | number | null | undefined;
  after?: string | null | undefined;
}>;


export type ChangesSubscription = { changes: { cursor: string, kind: DocumentChangeKind, key: string | null, paths: Array<ReadonlyArray<string | number>> } };

export type KeysQueryVariables = Exact<{
  collection: string;
  keys?: DocumentKeyFilter | null | undefined;
}>;


export type KeysQuery = { documents: { nodes: Array<{ key: string }> } };

export type StoredQueryVariables = Exact<{
  collection: string;
  keys: DocumentKeyFilter;
}>;


export type StoredQuery = { documents: { nodes: Array<{ key: string }> } };

export type ReferencedQueryVariables = Exact<{
  collection: string;
  keys?: DocumentKeyFilter | null | undefined;
  where?: DocumentFilter | null | undefined;
  path: ReadonlyArray<string | number> | string;
  first: number;
}>;


export type ReferencedQuery = { documents: { nodes: Array<{ key: string, name: { id: string, path: ReadonlyArray<string | number>, kind: JsonKind, length: number | null, version: string | null } | null }> } };

export class TypedDocumentString<TResult, TVariables>
  extends String
  implements DocumentTypeDecoration<TResult, TVariables>
{
  __apiType?: NonNullable<DocumentTypeDecoration<TResult, TVariables>['__apiType']>;
  private value: string;
  public __meta__?: Record<string, any> | undefined;

  constructor(value: string, __meta__?: Record<string, any> | undefined) {
    super(value);
    this.value = value;
    this.__meta__ = __meta__;
  }

  override toString(): string & DocumentTypeDecoration<TResult, TVariables> {
    return this.value;
  }
}
export const PlaceFragmentDoc = new TypedDocumentString(`
    fragment Place on Subdocument {
  id
  path
  kind
  length
  version
}
    `, {"fragmentName":"Place"}) as unknown as TypedDocumentString<PlaceFragment, unknown>;
export const CollectionsDocument = new TypedDocumentString(`
    query Collections {
  collections {
    name
    count
    indexes {
      name
      on
      unique
      where
      state
      indexed
      error
    }
    type {
      state
      checked
    }
  }
}
    `) as unknown as TypedDocumentString<CollectionsQuery, CollectionsQueryVariables>;
export const CollectionTypeDocument = new TypedDocumentString(`
    query CollectionType($name: String!) {
  collections(name: $name) {
    type {
      schema
      state
      violations {
        key
        place
        expected
        value
      }
    }
  }
}
    `) as unknown as TypedDocumentString<CollectionTypeQuery, CollectionTypeQueryVariables>;
export const SampleDocument = new TypedDocumentString(`
    query Sample($collection: String!) {
  documents(collection: $collection, first: 10) {
    nodes {
      key
      kind
      children(first: 30) {
        nodes {
          path
          kind
          children(first: 8) {
            nodes {
              path
              kind
            }
          }
        }
      }
    }
  }
}
    `) as unknown as TypedDocumentString<SampleQuery, SampleQueryVariables>;
export const RowsDocument = new TypedDocumentString(`
    query Rows($collection: String!, $where: DocumentFilter, $keys: DocumentKeyFilter, $orderBy: [DocumentOrder!], $first: Int!, $after: String, $scanLimit: Int, $withPlan: Boolean!, $c0: Path!, $c1: Path!, $c2: Path!, $c3: Path!, $c4: Path!, $c5: Path!, $c6: Path!, $c7: Path!, $with0: Boolean!, $with1: Boolean!, $with2: Boolean!, $with3: Boolean!, $with4: Boolean!, $with5: Boolean!, $with6: Boolean!, $with7: Boolean!) {
  changesCursor
  documents(
    collection: $collection
    where: $where
    keys: $keys
    orderBy: $orderBy
    first: $first
    after: $after
    scanLimit: $scanLimit
  ) {
    nodes {
      key
      c0: subdocument(path: $c0) @include(if: $with0) {
        ...Place
      }
      c1: subdocument(path: $c1) @include(if: $with1) {
        ...Place
      }
      c2: subdocument(path: $c2) @include(if: $with2) {
        ...Place
      }
      c3: subdocument(path: $c3) @include(if: $with3) {
        ...Place
      }
      c4: subdocument(path: $c4) @include(if: $with4) {
        ...Place
      }
      c5: subdocument(path: $c5) @include(if: $with5) {
        ...Place
      }
      c6: subdocument(path: $c6) @include(if: $with6) {
        ...Place
      }
      c7: subdocument(path: $c7) @include(if: $with7) {
        ...Place
      }
    }
    pageInfo {
      hasNextPage
      endCursor
    }
    plan @include(if: $withPlan) {
      index
      scanned
      examined
      covered
      returned
    }
  }
}
    fragment Place on Subdocument {
  id
  path
  kind
  length
  version
}`) as unknown as TypedDocumentString<RowsQuery, RowsQueryVariables>;
export const RootDocument = new TypedDocumentString(`
    query Root($collection: String!, $id: ID!, $path: Path!) {
  changesCursor
  document(collection: $collection, id: $id, path: $path) {
    ...Place
  }
}
    fragment Place on Subdocument {
  id
  path
  kind
  length
  version
}`) as unknown as TypedDocumentString<RootQuery, RootQueryVariables>;
export const LevelDocument = new TypedDocumentString(`
    query Level($collection: String!, $id: ID!, $path: Path!, $first: Int!, $after: String, $from: PathSegment) {
  document(collection: $collection, id: $id, path: $path) {
    ...Place
    children(first: $first, after: $after, from: $from) {
      nodes {
        ...Place
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
}
    fragment Place on Subdocument {
  id
  path
  kind
  length
  version
}`) as unknown as TypedDocumentString<LevelQuery, LevelQueryVariables>;
export const PlacesDocument = new TypedDocumentString(`
    query Places($ids: [ID!]!) {
  nodes(ids: $ids) {
    ... on Subdocument {
      ...Place
    }
  }
}
    fragment Place on Subdocument {
  id
  path
  kind
  length
  version
}`) as unknown as TypedDocumentString<PlacesQuery, PlacesQueryVariables>;
export const ValuesDocument = new TypedDocumentString(`
    query Values($ids: [ID!]!) {
  nodes(ids: $ids) {
    ... on Subdocument {
      id
      value
    }
  }
}
    `) as unknown as TypedDocumentString<ValuesQuery, ValuesQueryVariables>;
export const CurrentDocument = new TypedDocumentString(`
    query Current($collection: String!, $id: ID!, $path: Path!) {
  document(collection: $collection, id: $id, path: $path) {
    ...Place
    value
  }
}
    fragment Place on Subdocument {
  id
  path
  kind
  length
  version
}`) as unknown as TypedDocumentString<CurrentQuery, CurrentQueryVariables>;
export const SelectDocument = new TypedDocumentString(`
    query Select($collection: String!, $id: ID!, $path: Path!, $query: JSONPath!) {
  document(collection: $collection, id: $id, path: $path) {
    select(query: $query) {
      ...Place
    }
  }
}
    fragment Place on Subdocument {
  id
  path
  kind
  length
  version
}`) as unknown as TypedDocumentString<SelectQuery, SelectQueryVariables>;
export const TryDocument = new TypedDocumentString(`
    query Try($collection: String!, $query: JSONPath!) {
  documents(collection: $collection, first: 1) {
    nodes {
      key
      select(query: $query) {
        ...Place
      }
    }
  }
}
    fragment Place on Subdocument {
  id
  path
  kind
  length
  version
}`) as unknown as TypedDocumentString<TryQuery, TryQueryVariables>;
export const AccessDocument = new TypedDocumentString(`
    mutation Access {
  __typename
}
    `) as unknown as TypedDocumentString<AccessMutation, AccessMutationVariables>;
export const ReplaceDocument = new TypedDocumentString(`
    mutation Replace($collection: String!, $id: ID!, $path: Path!, $document: JSON, $ifVersion: DocumentVersion) {
  replaceDocument(
    collection: $collection
    id: $id
    path: $path
    document: $document
    ifVersion: $ifVersion
  ) {
    version
  }
}
    `) as unknown as TypedDocumentString<ReplaceMutation, ReplaceMutationVariables>;
export const PatchDocument = new TypedDocumentString(`
    mutation Patch($collection: String!, $id: ID!, $path: Path!, $patch: JSON, $ifVersion: DocumentVersion) {
  patchDocument(
    collection: $collection
    id: $id
    path: $path
    patch: $patch
    ifVersion: $ifVersion
  ) {
    version
  }
}
    `) as unknown as TypedDocumentString<PatchMutation, PatchMutationVariables>;
export const RemoveDocument = new TypedDocumentString(`
    mutation Remove($collection: String!, $id: ID!, $path: Path!, $ifVersion: DocumentVersion, $withVersion: Boolean!) {
  deleteDocument(
    collection: $collection
    id: $id
    path: $path
    ifVersion: $ifVersion
  ) {
    deleted
    document @include(if: $withVersion) {
      version
    }
  }
}
    `) as unknown as TypedDocumentString<RemoveMutation, RemoveMutationVariables>;
export const InsertDocument = new TypedDocumentString(`
    mutation Insert($collection: String!, $id: ID, $document: JSON) {
  insertDocument(collection: $collection, id: $id, document: $document) {
    key
    version
  }
}
    `) as unknown as TypedDocumentString<InsertMutation, InsertMutationVariables>;
export const CreateIndexDocument = new TypedDocumentString(`
    mutation CreateIndex($collection: String!, $name: String!, $on: [JSONPath!]!, $unique: Boolean! = false) {
  createIndex(collection: $collection, name: $name, on: $on, unique: $unique) {
    name
    state
  }
}
    `) as unknown as TypedDocumentString<CreateIndexMutation, CreateIndexMutationVariables>;
export const DropIndexDocument = new TypedDocumentString(`
    mutation DropIndex($collection: String!, $name: String!) {
  dropIndex(collection: $collection, name: $name)
}
    `) as unknown as TypedDocumentString<DropIndexMutation, DropIndexMutationVariables>;
export const SetTypeDocument = new TypedDocumentString(`
    mutation SetType($collection: String!, $schema: JSON!, $dryRun: Boolean! = false) {
  setCollectionType(collection: $collection, schema: $schema, dryRun: $dryRun) {
    effect
    state
    examined
    complete
    violations {
      key
      place
      expected
      value
    }
  }
}
    `) as unknown as TypedDocumentString<SetTypeMutation, SetTypeMutationVariables>;
export const DropTypeDocument = new TypedDocumentString(`
    mutation DropType($collection: String!) {
  dropCollectionType(collection: $collection)
}
    `) as unknown as TypedDocumentString<DropTypeMutation, DropTypeMutationVariables>;
export const ChangesDocument = new TypedDocumentString(`
    subscription Changes($collection: String!, $id: ID, $after: String) {
  changes(collection: $collection, id: $id, after: $after) {
    cursor
    kind
    key
    paths
  }
}
    `) as unknown as TypedDocumentString<ChangesSubscription, ChangesSubscriptionVariables>;
export const KeysDocument = new TypedDocumentString(`
    query Keys($collection: String!, $keys: DocumentKeyFilter) {
  documents(collection: $collection, keys: $keys, first: 50) {
    nodes {
      key
    }
  }
}
    `) as unknown as TypedDocumentString<KeysQuery, KeysQueryVariables>;
export const StoredDocument = new TypedDocumentString(`
    query Stored($collection: String!, $keys: DocumentKeyFilter!) {
  documents(collection: $collection, keys: $keys, first: 1000) {
    nodes {
      key
    }
  }
}
    `) as unknown as TypedDocumentString<StoredQuery, StoredQueryVariables>;
export const ReferencedDocument = new TypedDocumentString(`
    query Referenced($collection: String!, $keys: DocumentKeyFilter, $where: DocumentFilter, $path: Path!, $first: Int!) {
  documents(collection: $collection, keys: $keys, where: $where, first: $first) {
    nodes {
      key
      name: subdocument(path: $path) {
        ...Place
      }
    }
  }
}
    fragment Place on Subdocument {
  id
  path
  kind
  length
  version
}`) as unknown as TypedDocumentString<ReferencedQuery, ReferencedQueryVariables>;