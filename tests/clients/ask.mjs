// Requests without a client library, and the initial documents of the tests.
import assert from "node:assert/strict";

/** The response to a query that is sent without a client library. */
export async function answer(url, query, variables = {}) {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ query, variables }),
  });
  return response.json();
}

/** The data of such a query, which must have no errors. */
export async function ask(url, query, variables) {
  const { data, errors } = await answer(url, query, variables);
  assert.equal(errors, undefined, JSON.stringify(errors));
  return data;
}

/** Stores the initial documents: the same keys in two collections. */
export async function seed(url) {
  const documents = {
    one: { a: { title: "One A", tags: ["x", "y", "z"] }, 42: "one 42" },
    two: { a: { title: "Two A", tags: [] }, 42: "two 42" },
  };
  const clear = `mutation ($collection: String!) {
    deleteDocuments(collection: $collection, where: {}, everything: true) { matched }
  }`;
  const insert = `mutation ($collection: String!, $id: ID!, $document: JSON) {
    insertDocument(collection: $collection, id: $id, document: $document) { id }
  }`;
  for (const [collection, stored] of Object.entries(documents)) {
    await ask(url, clear, { collection });
    for (const [id, document] of Object.entries(stored)) {
      await ask(url, insert, { collection, id, document });
    }
  }
}

/** The data in a client, without the `__typename` that clients add. */
export const plain = (data) =>
  JSON.parse(JSON.stringify(data ?? null), (name, value) =>
    name === "__typename" ? undefined : value,
  );

/** Waits until a condition holds. */
export async function until(holds, what) {
  const end = Date.now() + 10_000;
  while (!holds()) {
    assert(Date.now() < end, `waited for ${what}`);
    await new Promise((waited) => setTimeout(waited, 5));
  }
}
