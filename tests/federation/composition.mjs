// Phyllo composes with subgraphs that reference documents by either key and extend them.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { buildSchema, parse, validate } from "graphql";
import { composedByApollo, composedByGuild, subgraphs } from "./compose.mjs";
import { products } from "./products.mjs";
import { reviews } from "./reviews.mjs";

const others = [await products(), await reviews()];
const services = await subgraphs(process.argv[2], others);
for (const other of others) other.stop();

// Two subgraphs with a field `node` do not compose, so Phyllo's subgraph omits it.
const fieldsOf = (type) => {
  const found = services[0].typeDefs.definitions.find(({ name }) => name?.value === type);
  return found.fields.map(({ name }) => name.value);
};
const queries = ["document", "documents", "aggregate", "changesCursor", "collections"];
assert.deepEqual(fieldsOf("Query"), queries);
const subscriptions = ["document", "documents", "changes"];
assert.deepEqual(fieldsOf("Subscription"), subscriptions);

for (const composed of [composedByApollo, composedByGuild]) {
  const { definitions } = parse(composed(services));
  const type = (name) => definitions.find((definition) => definition.name?.value === name);
  const fields = (name) => type(name).fields.map((field) => field.name.value);

  for (const field of ["value", "subdocument", "children", "product", "summary", "reviews"]) {
    assert(fields("Document").includes(field), field);
  }
  assert.deepEqual(
    fields("Query").filter((field) => field.startsWith("_") || field === "nodes"),
    [],
  );
  assert.deepEqual(fields("Subscription"), subscriptions);
  const joined = type("Document").directives.filter(({ name }) => name.value === "join__type");
  const keys = joined.map(({ arguments: given }) =>
    Object.fromEntries(given.map(({ name, value }) => [name.value, value.value])),
  );
  assert.deepEqual(keys, [
    { graph: "PHYLLO", key: "id" },
    { graph: "PHYLLO", key: "collection key" },
    { graph: "PRODUCTS", key: "collection key" },
    { graph: "REVIEWS", key: "id" },
  ]);
}

// The example of docs/federation.md composes, and its operations are valid.
const page = readFileSync("federation.md", "utf8");
const [schema, ...operations] = [...page.matchAll(/```graphql\n(.*?)```/gs)].map(([, text]) => text);
assert.equal(operations.length, 2);
const example = [services[0], { ...services[1], typeDefs: parse(schema) }];
for (const composed of [composedByApollo, composedByGuild]) {
  const graph = buildSchema(composed(example), { assumeValidSDL: true });
  for (const operation of operations) assert.deepEqual(validate(graph, parse(operation)), []);
}
