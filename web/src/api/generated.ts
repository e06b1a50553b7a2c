/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { DocumentTypeDecoration } from '@graphql-typed-document-node/core';
/** Whether queries use an index. */
export type DocumentIndexState =
  /** The index is being built while writes continue. Queries ignore it. A unique index already rejects writes that violate it. */
  | 'BUILDING'
  /** The index cannot contain some document; `error` names the document and the reason. The index is no longer maintained: drop it and create it again. */
  | 'FAILED'
  /** Queries use the index. */
  | 'READY';

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


export type CollectionsQuery = { collections: Array<{ name: string, count: number, indexes: Array<{ name: string, on: Array<string>, unique: boolean, state: DocumentIndexState, error: string | null }> }> };

export type SampleQueryVariables = Exact<{
  collection: string;
}>;


export type SampleQuery = { documents: { nodes: Array<{ kind: JsonKind, children: { nodes: Array<{ path: ReadonlyArray<string | number>, kind: JsonKind, children: { nodes: Array<{ path: ReadonlyArray<string | number>, kind: JsonKind }> } }> } }> } };

export type RowsQueryVariables = Exact<{
  collection: string;
  orderBy?: Array<DocumentOrder> | DocumentOrder | null | undefined;
  after?: string | null | undefined;
  c0: ReadonlyArray<string | number>;
  c1: ReadonlyArray<string | number>;
  c2: ReadonlyArray<string | number>;
  c3: ReadonlyArray<string | number>;
  c4: ReadonlyArray<string | number>;
}>;


export type RowsQuery = { documents: { nodes: Array<{ key: string, c0: { id: string, path: ReadonlyArray<string | number>, kind: JsonKind, length: number | null } | null, c1: { id: string, path: ReadonlyArray<string | number>, kind: JsonKind, length: number | null } | null, c2: { id: string, path: ReadonlyArray<string | number>, kind: JsonKind, length: number | null } | null, c3: { id: string, path: ReadonlyArray<string | number>, kind: JsonKind, length: number | null } | null, c4: { id: string, path: ReadonlyArray<string | number>, kind: JsonKind, length: number | null } | null }>, pageInfo: { hasNextPage: boolean, endCursor: string | null }, plan: { index: string | null } } };

export type PlaceFragment = { id: string, path: ReadonlyArray<string | number>, kind: JsonKind, length: number | null };

export type RootQueryVariables = Exact<{
  collection: string;
  id: string | number;
}>;


export type RootQuery = { document: { id: string, path: ReadonlyArray<string | number>, kind: JsonKind, length: number | null } | null };

export type LevelQueryVariables = Exact<{
  collection: string;
  id: string | number;
  path: ReadonlyArray<string | number>;
  after?: string | null | undefined;
}>;


export type LevelQuery = { document: { children: { nodes: Array<{ id: string, path: ReadonlyArray<string | number>, kind: JsonKind, length: number | null }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } } | null };

export type ValuesQueryVariables = Exact<{
  ids: Array<string | number> | string | number;
}>;


export type ValuesQuery = { nodes: Array<
    | { id: string, value: unknown }
    | Record<PropertyKey, never>
   | null> };

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
      state
      error
    }
  }
}
    `) as unknown as TypedDocumentString<CollectionsQuery, CollectionsQueryVariables>;
export const SampleDocument = new TypedDocumentString(`
    query Sample($collection: String!) {
  documents(collection: $collection, first: 10) {
    nodes {
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
    query Rows($collection: String!, $orderBy: [DocumentOrder!], $after: String, $c0: Path!, $c1: Path!, $c2: Path!, $c3: Path!, $c4: Path!) {
  documents(collection: $collection, orderBy: $orderBy, first: 50, after: $after) {
    nodes {
      key
      c0: subdocument(path: $c0) {
        ...Place
      }
      c1: subdocument(path: $c1) {
        ...Place
      }
      c2: subdocument(path: $c2) {
        ...Place
      }
      c3: subdocument(path: $c3) {
        ...Place
      }
      c4: subdocument(path: $c4) {
        ...Place
      }
    }
    pageInfo {
      hasNextPage
      endCursor
    }
    plan {
      index
    }
  }
}
    fragment Place on Subdocument {
  id
  path
  kind
  length
}`) as unknown as TypedDocumentString<RowsQuery, RowsQueryVariables>;
export const RootDocument = new TypedDocumentString(`
    query Root($collection: String!, $id: ID!) {
  document(collection: $collection, id: $id) {
    ...Place
  }
}
    fragment Place on Subdocument {
  id
  path
  kind
  length
}`) as unknown as TypedDocumentString<RootQuery, RootQueryVariables>;
export const LevelDocument = new TypedDocumentString(`
    query Level($collection: String!, $id: ID!, $path: Path!, $after: String) {
  document(collection: $collection, id: $id, path: $path) {
    children(first: 100, after: $after) {
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
}`) as unknown as TypedDocumentString<LevelQuery, LevelQueryVariables>;
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