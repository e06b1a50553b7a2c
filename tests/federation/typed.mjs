// A collection with a type is an entity of its own, which a subgraph of ratings extends and refers to.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { createGatewayRuntime } from "@graphql-hive/gateway-runtime";
import { parse } from "graphql";
import { createClient } from "graphql-sse";
import { ask, composedByApollo, composedByGuild, subgraphs } from "./compose.mjs";
import { ofApollo, ofGuild } from "./gateways.mjs";
import { serve } from "./serve.mjs";

const phyllo = process.argv[2];
const types = {
  notes: {
    title: "Note",
    type: "object",
    properties: {
      title: { type: ["string", "null"] },
      tags: { type: "array", items: { type: "string" } },
      parts: { type: "object", additionalProperties: { $ref: "#/$defs/part" } },
      // References, which the gateway follows like every other field.
      shelf: {
        type: "string",
        "x-reference": { collection: "shelves", as: "onShelf", inverse: "notes" },
      },
    },
    $defs: { part: { type: "object", properties: { seeds: { type: "integer", minimum: 0, maximum: 99 } } } },
  },
  // Another type, which the other subgraph does not know.
  shelves: { title: "Shelf", type: "object", properties: { room: { enum: ["A", "B"] } } },
};
for (const [collection, schema] of Object.entries(types)) {
  const query = `mutation ($collection: String!, $schema: JSON!) {
    setCollectionType(collection: $collection, schema: $schema) { effect }
  }`;
  await ask(phyllo, query, { collection, schema });
}

await ask(phyllo, 'mutation { createShelf(key: "s", shelf: { room: B }) { key } }');
await ask(phyllo, 'mutation { updateNote(key: "42", patch: { shelf: "s" }) { key } }');

const all = [
  { id: "1", stars: 5, note: { key: "apples" } },
  { id: "2", stars: 2, note: { key: "42" } },
  { id: "3", stars: 4, note: { key: "apples" } },
];
const ratings = await serve("ratings", {
  Query: { ratings: () => all },
  Rating: { __resolveReference: ({ id }) => all.find((rating) => rating.id === id) },
  Note: {
    __resolveReference: (note) => note,
    ratings: ({ key }) => all.filter(({ note }) => note.key === key),
  },
});
const services = await subgraphs(phyllo, [ratings]);

for (const composed of [composedByApollo, composedByGuild]) {
  const { definitions } = parse(composed(services));
  const type = (name) => definitions.find((definition) => definition.name?.value === name);
  const keys = (name) =>
    type(name)
      .directives.filter((directive) => directive.name.value === "join__type")
      .map(({ arguments: given }) =>
        given.map(({ name, value }) => `${name.value} ${value.value}`).join(", "),
      );
  assert.deepEqual(keys("Note"), ["graph PHYLLO, key key", "graph RATINGS, key key"]);
  assert.deepEqual(keys("Shelf"), ["graph PHYLLO, key key"]);
  assert.deepEqual(keys("NotePart"), ["graph PHYLLO"]);
}

for (const gateway of [ofApollo, ofGuild]) {
  const { execute, sent, stop } = await gateway(services);
  const data = async (query) => {
    const answer = await execute(query);
    assert.equal(answer.errors, undefined, `${query}\n${JSON.stringify(answer.errors)}`);
    return answer.data;
  };
  const apples = { title: "On apples", tags: ["crisp"] };
  const quinces = { title: "On quinces", tags: [] };
  assert.deepEqual(await data("{ ratings { stars note { title tags(first: 1) } } }"), {
    ratings: [
      { stars: 5, note: apples },
      { stars: 2, note: quinces },
      { stars: 4, note: apples },
    ],
  });
  const asked = sent.filter(({ url }) => url === phyllo);
  assert.equal(asked.length, 1, "all notes in one request");
  const query = `{
    note(key: "apples") { title ratings { stars } parts { key value { seeds } } }
    notes(where: { title: { startsWith: "On" } }, orderBy: { title: DESC }) {
      nodes { key ratings { stars } }
    }
  }`;
  assert.deepEqual(await data(query), {
    note: {
      title: "On apples",
      ratings: [{ stars: 5 }, { stars: 4 }],
      parts: [{ key: "core", value: { seeds: 5 } }],
    },
    notes: {
      nodes: [
        { key: "42", ratings: [{ stars: 2 }] },
        { key: "apples", ratings: [{ stars: 5 }, { stars: 4 }] },
      ],
    },
  });
  const change = `mutation {
    updateNote(key: "42", patch: { tags: ["hard"] }) { tags ratings { stars } }
  }`;
  assert.deepEqual(await data(change), { updateNote: { tags: ["hard"], ratings: [{ stars: 2 }] } });
  await data('mutation { updateNote(key: "42", patch: { tags: [] }) { key } }');
  const referring = `{
    note(key: "42") { onShelf { room notes { totalCount nodes { key ratings { stars } } } } }
    ratings { note { onShelf { room } } }
  }`;
  const onShelf = { room: "B" };
  const noted = [{ key: "42", ratings: [{ stars: 2 }] }];
  assert.deepEqual(await data(referring), {
    note: { onShelf: { ...onShelf, notes: { totalCount: 1, nodes: noted } } },
    ratings: [{ note: { onShelf: null } }, { note: { onShelf } }, { note: { onShelf: null } }],
  });
  await stop();
}

// A subscription to a typed document, joined with the other subgraph.
const runtime = createGatewayRuntime({ supergraph: composedByGuild(services), logging: false });
const server = createServer(runtime);
await once(server.listen(0, "127.0.0.1"), "listening");
const url = `http://127.0.0.1:${server.address().port}/graphql`;
const client = createClient({ url, retryAttempts: 0 });
const live = client.iterate({
  query: 'subscription { note(key: "42") { title ratings { stars } } }',
});
const next = async () => (await live.next()).value;
const note = (title) => ({ data: { note: { title, ratings: [{ stars: 2 }] } } });
assert.deepEqual(await next(), note("On quinces"));
await ask(phyllo, 'mutation { updateNote(key: "42", patch: { title: "Hard" }) { key } }');
assert.deepEqual(await next(), note("Hard"));
await live.return();
client.dispose();
ratings.stop();
process.exit(0);
