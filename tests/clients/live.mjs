// Subscriptions with graphql-ws, graphql-sse, Apollo Client over WebSocket and over multipart responses, and urql.
import * as apollo from "@apollo/client";
import { GraphQLWsLink } from "@apollo/client/link/subscriptions";
import * as urql from "@urql/core";
import { cacheExchange } from "@urql/exchange-graphcache";
import assert from "node:assert/strict";
import { createClient as createEventClient } from "graphql-sse";
import { createClient as createSocketClient } from "graphql-ws";
import WebSocket from "ws";
import { until } from "./ask.mjs";

const [, , url] = process.argv;
const socketUrl = url.replace("http", "ws");
const { ApolloClient, ApolloLink, HttpLink, InMemoryCache, gql } = apollo;

const CHANGES = `subscription ($after: String) {
  changes(collection: "live", id: "a", path: "/n", after: $after) { cursor kind key paths patch }
}`;
const LEAF = `subscription {
  document(collection: "live", id: "a", path: "/n") { __typename id value }
}`;

async function mutate(fields) {
  const body = JSON.stringify({ query: `mutation { ${fields} }` });
  const headers = { "content-type": "application/json" };
  const answer = await (await fetch(url, { method: "POST", headers, body })).json();
  assert.equal(answer.errors, undefined, JSON.stringify(answer));
  return answer.data;
}

const put = (n) => mutate(`replaceDocument(collection: "live", id: "a", path: "/n", document: ${n}) { version }`);

/**
 * Follows a leaf and its changes. `subscribe(query, variables, next)` returns a function that ends
 * the subscription.
 */
async function follow(name, subscribe) {
  await mutate(`replaceDocument(collection: "live", id: "a", document: {n: 0, m: 0}) { version }`);
  const values = [];
  const changes = [];
  const ends = [
    subscribe(LEAF, {}, (data) => values.push(data.document.value)),
    subscribe(CHANGES, {}, (data) => changes.push(data.changes)),
  ];
  await until(() => values.length === 1);
  // The second subscription begins at an unknown time.
  for (let n = 1; changes.length === 0; n++) {
    await put(n);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await mutate(`replaceDocument(collection: "live", id: "a", path: "/m", document: 1) { version }`);
  await put(-1);
  await until(() => values.at(-1) === -1 && changes.at(-1).patch[0].value === -1, name);
  assert.deepEqual(changes.at(-1).patch, [{ op: "replace", path: "/n", value: -1 }]);
  assert.deepEqual(changes.at(-1).paths, [["n"]]);
  assert.equal(changes.at(-1).key, "a");
  ends.forEach((end) => end());
  // A subscription that resumes gets what it has missed.
  const cursor = changes.at(-1).cursor;
  await put(-2);
  const missed = [];
  const end = subscribe(CHANGES, { after: cursor }, (data) => missed.push(data.changes));
  await until(() => missed.length === 1, `${name} resumes`);
  assert.deepEqual(missed[0].patch, [{ op: "replace", path: "/n", value: -2 }]);
  end();
}

const next = (take) => ({
  next: ({ data, errors }) => {
    assert.equal(errors, undefined, JSON.stringify(errors));
    take(data);
  },
  error: (error) => assert.fail(error),
  complete: () => {},
});

{
  const client = createSocketClient({ url: socketUrl, webSocketImpl: WebSocket });
  await follow("graphql-ws", (query, variables, take) => client.subscribe({ query, variables }, next(take)));
  const exchange = urql.subscriptionExchange({
    forwardSubscription: ({ query, variables }) => ({
      subscribe: (sink) => ({ unsubscribe: client.subscribe({ query, variables }, sink) }),
    }),
  });
  const preferGetMethod = false;
  const urqlClient = urql.createClient({ url, exchanges: [exchange], preferGetMethod });
  await follow("urql", (query, variables, take) => {
    const { unsubscribe } = urqlClient.subscription(query, variables).subscribe(next(take).next);
    return unsubscribe;
  });
  await client.dispose();
}
{
  const client = createEventClient({ url });
  await follow("graphql-sse", (query, variables, take) => client.subscribe({ query, variables }, next(take)));
  client.dispose();
}
for (const [name, link] of [
  ["Apollo Client, WebSocket", new GraphQLWsLink(createSocketClient({ url: socketUrl, webSocketImpl: WebSocket }))],
  ["Apollo Client, multipart", new HttpLink({ uri: url })],
]) {
  const client = new ApolloClient({ link: ApolloLink.from([link]), cache: new InMemoryCache() });
  await follow(name, (query, variables, take) => {
    const observer = client.subscribe({ query: gql(query), variables }).subscribe({
      next: ({ data }) => take(data),
      error: (error) => assert.fail(error),
    });
    return () => observer.unsubscribe();
  });
  client.stop();
}
{
  // A subscription updates the queries that show the same object, without a request.
  const LEAF_QUERY = `query Leaf {
    document(collection: "live", id: "a", path: ["n"]) { __typename id value }
  }`;
  let sent = 0;
  const counted = (...given) => (sent++, fetch(...given));
  const socket = createSocketClient({ url: socketUrl, webSocketImpl: WebSocket });
  const showsLiveValues = async (name, values) => {
    await until(() => values.length > 0, `${name} reads`);
    for (const n of [20, 21]) {
      await put(n);
      await until(() => values.at(-1) === n, `${name} shows ${n}`);
    }
    assert.equal(sent, 1, name);
    sent = 0;
  };
  {
    const link = ApolloLink.split(
      ({ operationType }) => operationType === "subscription",
      new GraphQLWsLink(socket),
      new HttpLink({ uri: url, fetch: counted }),
    );
    const client = new ApolloClient({ link, cache: new InMemoryCache() });
    const values = [];
    client.watchQuery({ query: gql(LEAF_QUERY) }).subscribe(({ data }) => {
      if (data) values.push(data.document.value);
    });
    client.subscribe({ query: gql(LEAF) }).subscribe({});
    await showsLiveValues("Apollo Client", values);
    client.stop();
  }
  {
    const forwardSubscription = ({ query, variables }) => ({
      subscribe: (sink) => ({ unsubscribe: socket.subscribe({ query, variables }, sink) }),
    });
    const client = urql.createClient({
      url,
      fetch: counted,
      preferGetMethod: false,
      exchanges: [cacheExchange({}), urql.subscriptionExchange({ forwardSubscription }), urql.fetchExchange],
    });
    const values = [];
    client.query(LEAF_QUERY, {}).subscribe(({ data }) => values.push(data.document.value));
    client.subscription(LEAF, {}).subscribe(() => {});
    await showsLiveValues("urql", values);
  }
}
{
  // An EventSource resumes with the id of the last event.
  const events = async (lastEventId) => {
    const query = new URLSearchParams({ query: CHANGES });
    const headers = { accept: "text/event-stream" };
    if (lastEventId) headers["last-event-id"] = lastEventId;
    const response = await fetch(`${url}?${query}`, { headers });
    assert.equal(response.status, 200);
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    return async () => {
      let text = "";
      while (!/\n\n$/.test(text) || !/^data:/m.test(text)) text += (await reader.read()).value;
      const id = /^id: ?(.*)$/m.exec(text)[1];
      return { id, payload: JSON.parse(/^data: ?(.*)$/m.exec(text)[1]) };
    };
  };
  const first = await events();
  await put(10);
  const { id, payload } = await first();
  assert.equal(payload.data.changes.cursor, id);
  await put(11);
  const again = await events(id);
  assert.equal((await again()).payload.data.changes.patch[0].value, 11);
}
process.exit(0);
