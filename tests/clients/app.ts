// A TypeScript application that uses the code generated from the schema. It is only compiled.
// Lines that must not compile are marked.
import { ApolloClient, HttpLink, InMemoryCache } from "@apollo/client";
import { cacheExchange } from "@urql/exchange-graphcache";
import { createClient, fetchExchange } from "@urql/core";
import { graphql, useFragment, type FragmentType } from "./gql";
import { type DocumentFilter, JsonKind, type Scalars } from "./gql/graphql";

type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const is = <T extends true>(): T | void => undefined;

is<Equal<Scalars["JSON"]["input"], unknown>>();
is<Equal<Scalars["JSON"]["output"], unknown>>();
is<Equal<Scalars["JSONPath"]["input"], string>>();
is<Equal<Scalars["DocumentVersion"]["output"], string>>();
is<Equal<Scalars["Path"]["input"], string | ReadonlyArray<string | number>>>();
is<Equal<Scalars["Path"]["output"], Array<string | number>>>();
is<Equal<Scalars["PathSegment"]["input"], string | number>>();
is<Equal<Scalars["_Any"]["input"], { __typename: "Document"; id: string }>>();

const PART = graphql(`
  fragment Part on Subdocument {
    id
    path
    kind
    value
  }
`);

const PARTS = graphql(`
  query Parts($key: ID!, $path: Path, $where: DocumentFilter) {
    document(id: $key, collection: "notes", path: $path) {
      ...Part
      version
      select(query: "$..title") {
        ...Part
      }
    }
    documents(collection: "notes", where: $where) {
      nodes {
        id
        key
        title: value(path: "/title")
      }
    }
  }
`);

const NODE = graphql(`
  query Node($id: ID!) {
    node(id: $id) {
      __typename
      id
      ... on Document {
        key
      }
      ...Part
    }
  }
`);

const PATCH = graphql(`
  mutation Patch($key: ID!, $patch: JSON) {
    patchDocument(id: $key, collection: "notes", patch: $patch) {
      id
      version
      subdocument(path: "/title") {
        ...Part
      }
    }
  }
`);

const ENTITIES = graphql(`
  query Entities($representations: [_Any!]!) {
    _entities(representations: $representations) {
      ... on Document {
        id
      }
    }
  }
`);

function show(given: FragmentType<typeof PART>): string {
  const part = useFragment(PART, given);
  const last: string | number | undefined = part.path.at(-1);
  // @ts-expect-error: what a document holds is to be checked first
  part.value.title;
  const text = typeof part.value === "string" ? part.value : JSON.stringify(part.value);
  return part.kind === JsonKind.String ? text : `${last}: ${text}`;
}

export async function main(uri: string): Promise<string[]> {
  const apollo = new ApolloClient({ link: new HttpLink({ uri }), cache: new InMemoryCache() });
  const urql = createClient({
    url: uri,
    preferGetMethod: false,
    exchanges: [cacheExchange({}), fetchExchange],
  });

  const where: DocumentFilter = { at: "$.tags[*]", in: ["crisp", 1, null] };
  const { data } = await apollo.query({
    query: PARTS,
    variables: { key: "apples", path: ["tags", 0], where },
  });
  const version: string | null | undefined = data?.document?.version;
  const lines = data?.document?.select.map(show) ?? [];
  // @ts-expect-error: a path is a text or a list
  await apollo.query({ query: PARTS, variables: { key: "apples", path: 0 } });
  // @ts-expect-error: the key has to be given
  await apollo.query({ query: PARTS, variables: { path: "/tags" } });

  const found = await urql.query(NODE, { id: "notes/apples" }).toPromise();
  const node = found.data?.node;
  if (node?.__typename === "Document") lines.push(node.key);
  if (node?.__typename === "Subdocument") lines.push(show(node));

  const patch = [{ op: "test", path: "/title", value: lines[0] }];
  const patched = await apollo.mutate({ mutation: PATCH, variables: { key: "apples", patch } });
  const title = patched.data?.patchDocument.subdocument;
  const entities = await urql
    .query(ENTITIES, { representations: [{ __typename: "Document", id: "notes/apples" }] })
    .toPromise();
  const ids = entities.data?._entities.map((entity) => entity?.id ?? "nothing") ?? [];
  return [...lines, ...(title ? [show(title)] : []), ...ids, version ?? ""];
}
