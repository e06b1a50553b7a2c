// A client that caches objects by their id reads several parts of one document and mixes none up.
import assert from "node:assert/strict";
import { ApolloClient, gql, HttpLink, InMemoryCache } from "@apollo/client";
import { ask } from "./compose.mjs";

const uri = process.argv[2];

const parts = gql`
  query ($key: ID = "apples", $other: Path) {
    whole: document(id: $key, collection: "notes") {
      path kind value
      tags: value(path: "/tags")
      first: at(path: "/tags/0") { path value }
      second: at(path: ["tags", 1]) { path value }
      children(first: 2) { nodes { path kind } }
      document { id collection value(path: "/title") parts: value(path: "/parts") }
    }
    tags: document(id: $key, collection: "notes", path: "/tags") {
      path kind value
      document { id collection tags: value(path: "/tags") at(path: "/parts/core") { value } }
    }
    seeds: document(id: $key, collection: "notes", path: $other) {
      path kind value
      document { id collection kind }
    }
  }
`;

/** A client with a cache of its own. */
const client = (typePolicies) =>
  new ApolloClient({ link: new HttpLink({ uri }), cache: new InMemoryCache({ typePolicies }) });

/** What the server says, without the cache. */
const plain = async (query, variables) => {
  const link = client();
  const { data } = await link.query({ query, variables, fetchPolicy: "no-cache" });
  return data;
};

/** What the cache holds after all, without asking the server. */
const cached = async (client, query, variables) => {
  const { data } = await client.query({ query, variables, fetchPolicy: "cache-only" });
  return data;
};

const variables = [
  { other: "/parts/core/seeds" },
  { other: ["title"] },
  { key: "42", other: "/parts" },
];

// As it comes, and with the policies that docs/federation.md advises.
const advised = {
  Document: { keyFields: ["collection", "id"] },
  Subdocument: { merge: true },
};
for (const policies of [undefined, advised]) {
  const one = client(policies);
  for (const given of variables) {
    const { data } = await one.query({ query: parts, variables: given });
    assert.deepEqual(data, await plain(parts, given));
  }
  for (const given of variables) {
    assert.deepEqual(await cached(one, parts, given), await plain(parts, given));
  }
  const { data } = await one.query({ query: parts, variables: variables[0] });
  assert.deepEqual(data.tags.value, ["crisp", "sweet"]);
  assert.equal(data.whole.first.value, "crisp");
  assert.equal(data.whole.second.value, "sweet");
  assert.equal(data.whole.document.value, "On apples");
  assert.equal(data.seeds.value, 5);
  // One object for the document, however many parts of it were read; none for a part.
  const objects = Object.keys(one.cache.extract()).sort();
  const documents = policies
    ? ['Document:{"collection":"notes","id":"42"}', 'Document:{"collection":"notes","id":"apples"}']
    : ["Document:42", "Document:apples"];
  assert.deepEqual(objects, [...documents, "ROOT_QUERY"]);
}

// Documents of the same id in two collections are two, where the key has both.
await ask(uri, `mutation { insertDocument(id: "apples", collection: "other", document: "else") { id } }`);
const namesakes = gql`
  {
    notes: document(id: "apples", collection: "notes") { document { id collection value } }
    other: document(id: "apples", collection: "other") { document { id collection value } }
  }
`;
const apart = client(advised);
await apart.query({ query: namesakes });
const both = await cached(apart, namesakes);
assert.equal(both.notes.document.value.title, "On apples");
assert.equal(both.other.document.value, "else");

// Two queries that read different fields of one place complete each other.
const kind = gql`{ document(id: "42", collection: "notes", path: "/title") { kind } }`;
const value = gql`{ document(id: "42", collection: "notes", path: "/title") { value } }`;
await apart.query({ query: kind });
await apart.query({ query: value });
assert.equal((await cached(apart, kind)).document.kind, "STRING");
assert.equal((await cached(apart, value)).document.value, "On quinces");

// What a mutation answers reaches whoever reads the document, and no other part of it.
const read = gql`
  {
    document(id: "42", collection: "notes") {
      document { id collection title: value(path: "/title") tags: value(path: "/tags") }
    }
  }
`;
await apart.query({ query: read });
await apart.mutate({
  mutation: gql`
    mutation ($title: JSON) {
      replaceDocument(id: "42", collection: "notes", path: "/title", document: $title) {
        id collection title: value(path: "/title")
      }
    }
  `,
  variables: { title: { new: ["title"] } },
});
const { document } = await cached(apart, read);
assert.deepEqual(document.document.title, { new: ["title"] });
assert.deepEqual(document.document.tags, []);
