// The checks of npm's @apollo/federation-subgraph-compatibility, applied to Phyllo's types. The
// original suite runs in containers with its own types. Prints whether Phyllo has each feature,
// as listed in docs/federation.md.
import assert from "node:assert/strict";
import { buildSubgraphSchema } from "@apollo/subgraph";
import {
  buildClientSchema,
  getIntrospectionQuery,
  isSpecifiedScalarType,
  parse,
  stripIgnoredCharacters,
  visit,
} from "graphql";
import { ask } from "./compose.mjs";

const url = process.argv[2];
const { _service } = await ask(url, "query { _service { sdl } }");
const sdl = stripIgnoredCharacters(_service.sdl);

/** The types and fields to which the schema applies a directive. */
function applied(directive) {
  const places = [];
  visit(parse(_service.sdl), {
    Directive(node, _key, _parent, _path, ancestors) {
      if (![directive, `federation__${directive}`].includes(node.name.value)) return;
      const named = ancestors.filter((ancestor) => ancestor.name?.kind === "Name");
      places.push(named.map(({ name }) => name.value).join("."));
    },
  });
  return places;
}

/** The arguments of a field. Fields of input objects have none. */
const argumentsOf = ({ args = [] }) => args.map((arg) => `${arg.name}: ${arg.type}`).sort();

const tell = (feature, has) => console.log(`${feature}: ${has}`);

/** Reports that Phyllo's schema does not use a directive. */
function unused(directive) {
  assert.deepEqual(applied(directive), []);
  tell(`\`@${directive}\``, "not used");
}

// introspection: the SDL is a valid schema and equals the introspected one.
assert.match(_service.sdl, /type Query/);
// The subgraph omits `node` and `nodes`.
const left = ["Query.node", "Query.nodes"];
const ours = buildSubgraphSchema({ typeDefs: parse(_service.sdl) }).getTypeMap();
const seen = buildClientSchema(await ask(url, getIntrospectionQuery())).getTypeMap();
const skipped = (type) => type.name.startsWith("_") || isSpecifiedScalarType(type);
for (const [name, type] of Object.entries(seen).filter(([, type]) => !skipped(type))) {
  assert.ok(ours[name], name);
  const fields = Object.entries(type.getFields?.() ?? {});
  for (const [field, seen] of fields.filter(([field]) => !field.startsWith("_"))) {
    const other = ours[name].getFields()[field];
    assert.equal(other === undefined, left.includes(`${name}.${field}`), `${name}.${field}`);
    if (!other) continue;
    assert.equal(String(other.type), String(seen.type), `${name}.${field}`);
    assert.deepEqual(argumentsOf(other), argumentsOf(seen), `${name}.${field}`);
  }
}
tell("`_service`", "yes");

// @key: the global id, or the two fields that it consists of.
assert.deepEqual(applied("key"), ["Document", "Document"]);
assert.match(
  sdl,
  /type Document implements Node ?@key\(fields:"id"\) ?@key\(fields:"collection key"\)\{/,
);

/** The responses for one representation each, with their errors. */
async function entities(representations) {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      query: `query ($representations: [_Any!]!) {
        _entities(representations: $representations) { ...on Document { id collection key kind } }
      }`,
      variables: { representations },
    }),
  });
  const { data, errors = [] } = await response.json();
  return { found: data._entities, errors };
}
const apples = { id: "notes/apples", collection: "notes", key: "apples", kind: "OBJECT" };
const byId = await entities([
  { __typename: "Document", id: "notes/apples" },
  { __typename: "Document", id: "notes/nobody" },
]);
assert.deepEqual(byId, { found: [apples, null], errors: [] });
tell("`@key` (single)", "yes");
const byKey = await entities([
  { __typename: "Document", collection: "notes", key: "apples" },
  { __typename: "Document", collection: "notes", key: "nobody" },
  { __typename: "Document", collection: "notes", key: 42 },
]);
const quinces = { id: "notes/42", collection: "notes", key: "42", kind: "OBJECT" };
assert.deepEqual(byKey, { found: [apples, null, quinces], errors: [] });
tell("`@key` (multi)", "yes");
tell("`@key` (composite)", "not used");
// Two keys in one representation must match. Malformed ones are errors at their position.
const malformed = await entities([
  { __typename: "Document", id: "notes/apples", collection: "notes", key: "apples" },
  { __typename: "Document", id: "notes/apples", collection: "notes", key: "42" },
  { __typename: "Document", id: "no id" },
  { __typename: "Document", collection: "notes" },
  { __typename: "Note", id: "notes/apples" },
]);
assert.deepEqual(malformed.found, [apples, null, null, null, null]);
const places = malformed.errors.map(({ path, extensions }) => [...path, extensions.code]).sort();
assert.deepEqual(
  places,
  [1, 2, 3, 4].map((place) => ["_entities", place, "BAD_USER_INPUT"]),
);
tell("repeatable `@key`", "yes");

unused("requires");
unused("provides");

// ftv1: traces are not supported.
const traced = await fetch(url, {
  method: "POST",
  headers: { "content-type": "application/json", "apollo-federation-include-trace": "ftv1" },
  body: JSON.stringify({ query: "query { __typename }" }),
});
assert.deepEqual(await traced.json(), { data: { __typename: "Query" } });
tell("federated tracing", "no");

// @link: one link to version 2 of the specification, which imports names that it defines.
const links = [...sdl.matchAll(/@link\(url:"([^"]+)",? ?import:\[([^\]]+)\]\)/g)];
assert.equal(links.length, 1);
const [, specification, imported] = links[0];
assert.match(specification, /^https:\/\/specs\.apollo\.dev\/federation\/v2\.\d+$/);
const known = [
  "@composeDirective",
  "@extends",
  "@external",
  "@inaccessible",
  "@interfaceObject",
  "@key",
  "@override",
  "@provides",
  "@requires",
  "@requiresScopes",
  "@shareable",
  "@tag",
];
for (const [, name] of imported.matchAll(/"([^"]+)"/g)) assert.ok(known.includes(name), name);
tell("`@link`", "yes");

// @shareable: the types of a connection page, which any subgraph can resolve.
assert.deepEqual(applied("shareable"), ["PageInfo"]);
const { document } = await ask(
  url,
  `{
    document(id: "apples", collection: "notes") {
      children(first: 4) { pageInfo { hasNextPage hasPreviousPage } }
    }
  }`,
);
assert.deepEqual(document.children.pageInfo, { hasNextPage: false, hasPreviousPage: false });
tell("`@shareable`", "yes");

for (const directive of ["tag", "override", "inaccessible", "composeDirective", "interfaceObject"])
  unused(directive);
