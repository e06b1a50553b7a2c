// Phyllo composes with another subgraph, which refers to documents and extends them.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { buildSchema, parse, validate } from "graphql";
import { composedByApollo, composedByGuild, subgraphs } from "./compose.mjs";
import { products } from "./products.mjs";

const other = await products();
const services = await subgraphs(process.argv[2], other);
other.stop();

for (const composed of [composedByApollo, composedByGuild]) {
  const { definitions } = parse(composed(services));
  const type = (name) => definitions.find((definition) => definition.name?.value === name);
  const fields = (name) => type(name).fields.map((field) => field.name.value);

  for (const field of ["value", "at", "children", "version", "product", "summary"]) {
    assert(fields("Document").includes(field), field);
  }
  assert.deepEqual(
    fields("Query").filter((field) => field.startsWith("_")),
    [],
  );
  const keys = type("Document").directives.map(({ arguments: given }) =>
    Object.fromEntries(given.map(({ name, value }) => [name.value, value.value])),
  );
  assert.deepEqual(keys, [
    { graph: "PHYLLO", key: "collection id" },
    { graph: "PRODUCTS", key: "collection id" },
  ]);
}

// The example of docs/federation.md composes, and its query is one of the graph.
const page = readFileSync("federation.md", "utf8");
const [schema, query] = [...page.matchAll(/```graphql\n(.*?)```/gs)].map(([, text]) => text);
const example = [services[0], { ...services[1], typeDefs: parse(schema) }];
for (const composed of [composedByApollo, composedByGuild]) {
  const graph = buildSchema(composed(example), { assumeValidSDL: true });
  assert.deepEqual(validate(graph, parse(query)), []);
}
