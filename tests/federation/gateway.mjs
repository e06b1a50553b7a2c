// Subscriptions through Hive Gateway, which follows Phyllo over server-sent events or a WebSocket.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { createGatewayRuntime } from "@graphql-hive/gateway-runtime";
import { createClient } from "graphql-sse";
import { ask, composedByGuild, subgraphs } from "./compose.mjs";
import { products } from "./products.mjs";
import { reviews } from "./reviews.mjs";

const phyllo = process.argv[2];
const others = [await products(), await reviews()];
const supergraph = composedByGuild(await subgraphs(phyllo, others));

/** Starts the gateway, and a client of it. */
async function start(transportEntries) {
  const runtime = createGatewayRuntime({
    supergraph,
    transportEntries,
    logging: false,
  });
  const server = createServer(runtime);
  await once(server.listen(0, "127.0.0.1"), "listening");
  const url = `http://127.0.0.1:${server.address().port}/graphql`;
  const client = createClient({ url, retryAttempts: 0 });
  const stop = async () => {
    client.dispose();
    server.closeAllConnections();
    server.close();
    await runtime[Symbol.asyncDispose]();
  };
  return { url, client, stop };
}

/** The number of subscriptions that are open at Phyllo over a transport. */
async function open(transport) {
  const text = await (await fetch(new URL("/metrics", phyllo))).text();
  const line = new RegExp(`^phyllo_subscriptions\\{transport="${transport}"\\} (\\d+)$`, "m");
  return Number(line.exec(text)?.[1] ?? 0);
}

/** Waits until as many subscriptions are open. */
async function opened(transport, count) {
  const end = Date.now() + 10_000;
  while ((await open(transport)) !== count) {
    assert(Date.now() < end, `${transport}: ${await open(transport)} instead of ${count}`);
    await new Promise((waited) => setTimeout(waited, 20));
  }
}

/** The data of the next result. */
async function next(results) {
  const { value } = await results.next();
  assert.equal(value.errors, undefined, JSON.stringify(value));
  return value.data;
}

const rename = (title) =>
  ask(
    phyllo,
    `mutation ($title: JSON) {
      replaceDocument(id: "apples", collection: "notes", path: "/title", document: $title) { id }
    }`,
    { title },
  );

const LIVE = `subscription {
  document(id: "apples", collection: "notes", path: "/title") {
    id
    value
    document { product { name } summary reviews { text } }
  }
}`;
const CHANGES = `subscription ($after: String) {
  changes(collection: "notes", after: $after) {
    cursor
    key
    paths
    patch
    document { product { name } reviews { text } }
  }
}`;

const joined = { product: { name: "Apple" }, reviews: [{ text: "Crisp" }, { text: "Sweet" }] };

/**
 * Follows through a gateway that reaches Phyllo by this transport. `code` is the code of an error
 * that Phyllo rejects a subscription with, as the gateway tells it.
 */
async function follow(transport, code, transportEntries) {
  const { client, stop } = await start(transportEntries);
  await rename("On apples");
  const { changesCursor: after } = await ask(phyllo, "{ changesCursor }");

  // The values of other subgraphs are joined to each response.
  const live = client.iterate({ query: LIVE });
  const shown = (title) => ({
    document: {
      id: "notes/apples#/title",
      value: title,
      document: { ...joined, summary: `OBJECT: ${JSON.stringify(title)}` },
    },
  });
  assert.deepEqual(await next(live), shown("On apples"));
  await rename("On pears");
  assert.deepEqual(await next(live), shown("On pears"));

  // Changes are sent in order from a cursor on, with the document as it is now.
  const changes = client.iterate({ query: CHANGES, variables: { after } });
  await opened(transport, 2);
  await rename("On plums");
  const seen = [(await next(changes)).changes, (await next(changes)).changes];
  for (const [place, title] of ["On pears", "On plums"].entries()) {
    const { cursor, ...change } = seen[place];
    assert.match(cursor, /^[0-9a-f-]+$/);
    assert.deepEqual(change, {
      key: "apples",
      paths: [["title"]],
      patch: [{ op: "replace", path: "/title", value: title }],
      document: joined,
    });
  }
  const resumed = client.iterate({ query: CHANGES, variables: { after: seen[0].cursor } });
  assert.deepEqual((await next(resumed)).changes, seen[1]);
  await opened(transport, 3);

  // A subscription that the client ends at the gateway ends at Phyllo.
  for (const results of [live, changes, resumed]) await results.return();
  await opened(transport, 0);

  // A subscription that Phyllo rejects is an error of the gateway.
  const refused = client.iterate({ query: CHANGES, variables: { after: "no cursor" } });
  const { value } = await refused.next();
  assert.deepEqual(value.errors.map(({ extensions }) => extensions.code), [code]);
  await stop();
}

await follow("sse", "BAD_USER_INPUT");
// The gateway masks the errors that a WebSocket client reports before the first response.
const subscriptions = { kind: "ws" };
await follow("websocket", "INTERNAL_SERVER_ERROR", { phyllo: { options: { subscriptions } } });
for (const other of others) other.stop();
process.exit(0);
