// Compares the schema from the command line, over HTTP, in the repository and by introspection, for
// subgraphs and for servers of every scope.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { buildSubgraphSchema } from "@apollo/subgraph";
import {
  buildClientSchema,
  buildSchema,
  getIntrospectionQuery,
  isSpecifiedScalarType,
  lexicographicSortSchema,
  parse,
  printSchema,
  validateSchema,
  visit,
} from "graphql";
import { ask } from "./ask.mjs";

const [full, withoutAdmin, readOnly] = process.argv.slice(2);

const printed = (...flags) =>
  execFileSync(process.env.PHYLLO, ["schema", ...flags], { encoding: "utf8" });

/** The text of a schema, with its types sorted. */
const sorted = (schema) => printSchema(lexicographicSortSchema(schema));

/** The names of types, fields and arguments that have no description. */
function undescribed(text) {
  const names = [];
  visit(parse(text), {
    enter(node, _key, _parent, _path, ancestors) {
      if (!/Definition$/.test(node.kind) || !node.name || node.description?.value.trim()) return;
      const above = ancestors.filter((ancestor) => ancestor.name).map(({ name }) => name.value);
      names.push([...above, node.name.value].join("."));
    },
  });
  return names;
}

// Built-in definitions have the descriptions of the GraphQL specification, or none.
const BUILT_IN = /^(include|skip|specifiedBy|deprecated|oneOf)\b/;

// The type names that Phyllo defines. Applications can use any others.
const OURS = /^(Document\w*|Subdocument\w*|JSON\w*|Path|PathSegment|Node|PageInfo|Query|Mutation|Subscription|_\w+)$/;

/** Checks the text of one scope: it is valid, has descriptions, and equals the introspection. */
async function check(url, ...flags) {
  const text = printed(...flags);
  const served = await fetch(new URL("/schema.graphql", url));
  assert(await served.text() === text, "the server tells another schema than the command line");

  const schema = buildSchema(text);
  assert.deepEqual(validateSchema(schema), []);
  const query = getIntrospectionQuery({
    specifiedByUrl: true,
    directiveIsRepeatable: true,
    inputValueDeprecation: true,
    oneOf: true,
  });
  const seen = buildClientSchema(await ask(url, query));
  // The schema itself has no description, because not every parser supports one.
  assert.equal(schema.description, undefined);
  assert.deepEqual(sorted(seen).split("\n"), sorted(schema).split("\n"));

  assert.deepEqual(undescribed(text).filter((name) => !BUILT_IN.test(name)), []);
  const types = Object.values(schema.getTypeMap());
  const names = types.filter((type) => !isSpecifiedScalarType(type)).map(({ name }) => name);
  assert.deepEqual(names.filter((name) => !OURS.test(name) && !name.startsWith("__")), []);
  return schema;
}

/** Checks the text of one scope for gateways: a subgraph with the fields of the schema. */
async function checkSubgraph(url, schema, ...flags) {
  const text = printed("--subgraph", ...flags);
  const { _service } = await ask(url, "{ _service { sdl } }");
  assert(_service.sdl === text, "_service tells another schema than the command line");
  assert.deepEqual(undescribed(text).filter((name) => !BUILT_IN.test(name)), []);
  const subgraph = buildSubgraphSchema({ typeDefs: parse(text) });
  const fields = (schema) =>
    Object.values(schema.getTypeMap())
      .flatMap(({ name, getFields }) => (getFields ? [name] : []))
      .filter((name) => !name.startsWith("_"))
      .flatMap((name) => Object.keys(schema.getType(name).getFields()).map((field) => [name, field]))
      .map((names) => names.join("."))
      .sort();
  const left = ["Query.node", "Query.nodes"];
  assert.deepEqual(
    fields(subgraph),
    fields(schema).filter((field) => !left.includes(field)),
  );
}

const whole = await check(full);
assert(readFileSync("schema.graphql", "utf8") === printed(), "schema.graphql is another schema");
const withIndexes = whole.getMutationType().getFields();
assert(withIndexes.createIndex && withIndexes.dropIndex);
await checkSubgraph(full, whole);

const guarded = await check(withoutAdmin, "--no-admin");
const mutations = Object.keys(guarded.getMutationType().getFields());
const admin = [
  "createIndex",
  "dropIndex",
  "dropCollection",
  "setCollectionType",
  "dropCollectionType",
];
assert.deepEqual(
  mutations,
  Object.keys(withIndexes).filter((name) => !admin.includes(name)),
);
await checkSubgraph(withoutAdmin, guarded, "--no-admin");

const reads = await check(readOnly, "--read-only");
assert.equal(reads.getMutationType(), undefined);
await checkSubgraph(readOnly, reads, "--read-only");
