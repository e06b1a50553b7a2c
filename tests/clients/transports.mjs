// The transports for subscriptions, with the clients that their authors publish.
import assert from "node:assert/strict";
import { createClient as createEventClient } from "graphql-sse";
import { CloseCode, createClient as createSocketClient } from "graphql-ws";
import WebSocket from "ws";

const [, , url, guarded] = process.argv;
const READER = "reader-0123456789abcdef";
const socketUrl = (url) => url.replace("http", "ws");

/** All results of an operation. */
async function results(client, query, variables) {
  const found = [];
  for await (const result of client.iterate({ query, variables })) found.push(result);
  return found;
}

const QUERY = "{ __typename }";
const INSERT = `mutation ($id: ID!, $document: JSON) {
  insertDocument(id: $id, document: $document) { key value }
}`;

async function queriesAndMutations(client, id) {
  assert.deepEqual(await results(client, QUERY), [{ data: { __typename: "Query" } }]);
  const document = { n: 1, text: "\u20ac\n\"" };
  assert.deepEqual(await results(client, INSERT, { id, document }), [
    { data: { insertDocument: { key: id, value: document } } },
  ]);
  const read = `{ document(id: "${id}") { value(path: "/text") } }`;
  const many = await Promise.all(Array.from({ length: 50 }, () => results(client, read)));
  for (const found of many) {
    assert.deepEqual(found, [{ data: { document: { value: document.text } } }]);
  }
}

/** A WebSocket client, and the code with which its connection ended. */
function connect(url, options = {}) {
  let closed;
  const ended = new Promise((resolve) => (closed = resolve));
  const client = createSocketClient({
    url: socketUrl(url),
    webSocketImpl: WebSocket,
    retryAttempts: 0,
    on: { closed: ({ code }) => closed(code) },
    ...options,
  });
  return { client, ended };
}

// WebSocket
{
  const { client, ended } = connect(url, { keepAlive: 50, lazyCloseTimeout: 300 });
  await queriesAndMutations(client, "socket");
  await assert.rejects(results(client, "{ nothing }"), ([error]) => {
    assert.equal(error.extensions.code, "BAD_USER_INPUT");
    return true;
  });
  await client.dispose();
  assert.equal(await ended, 1000);
}
{
  const { client } = connect(guarded, { connectionParams: { Authorization: `Bearer ${READER}` } });
  assert.deepEqual(await results(client, QUERY), [{ data: { __typename: "Query" } }]);
  await assert.rejects(results(client, INSERT, { id: "x" }), ([error]) => {
    assert.equal(error.extensions.code, "FORBIDDEN");
    return true;
  });
  await client.dispose();
}
{
  const { client, ended } = connect(guarded, { connectionParams: { token: "wrong" } });
  await assert.rejects(results(client, QUERY), { code: CloseCode.Forbidden });
  assert.equal(await ended, CloseCode.Forbidden);
}

// Server-sent events
{
  const client = createEventClient({ url, retryAttempts: 0 });
  await queriesAndMutations(client, "events");
  const [{ errors }] = await results(client, "{ nothing }");
  assert.equal(errors[0].extensions.code, "BAD_USER_INPUT");
  client.dispose();
}
{
  const headers = { Authorization: `Bearer ${READER}` };
  const client = createEventClient({ url: guarded, headers, retryAttempts: 0 });
  assert.deepEqual(await results(client, QUERY), [{ data: { __typename: "Query" } }]);
  const [{ errors }] = await results(client, INSERT, { id: "x" });
  assert.equal(errors[0].extensions.code, "FORBIDDEN");
  client.dispose();
}
