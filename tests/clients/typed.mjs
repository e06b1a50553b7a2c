// A collection with a type, used without configuration: the generated TypeScript has no unknown types, and
// a mutation updates what queries have read in the caches of Apollo Client 4 and 3 and of urql.
import * as client4 from "@apollo/client";
import client3 from "apollo-client-3/core/core.cjs";
import { createClient, fetchExchange, gql } from "@urql/core";
import { cacheExchange } from "@urql/exchange-graphcache";
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { ask, plain, until } from "./ask.mjs";
import { blocks } from "./page.mjs";

// Warnings of the clients are errors here, except that Graphcache embeds objects without `id`.
console.warn = console.error = (...told) =>
  assert.match(told.join(" "), /Entities without keys will be embedded/);

const [url] = process.argv.slice(2);
const text = { type: "string" };
const schema = {
  title: "Country",
  type: "object",
  properties: {
    name: { type: "object", properties: { common: text, official: text }, required: ["common"] },
    region: { enum: ["Africa", "Asia", "Europe"] },
    area: { type: "number" },
    rank: { type: "integer", minimum: 1, maximum: 300 },
    landlocked: { type: "boolean" },
    borders: { type: "array", items: text },
    cities: { type: "array", items: { type: "object", properties: { name: text }, required: ["name"] } },
    languages: { type: "object", additionalProperties: text },
  },
  required: ["name", "region", "rank"],
  additionalProperties: false,
};
const set = `mutation ($schema: JSON!) {
  setCollectionType(collection: "countries", schema: $schema) { state }
}`;
await ask(url, set, { schema });
const create = `mutation ($key: ID!, $country: CountryInput!) {
  createCountry(key: $key, country: $country) { key }
}`;
const country = (common, area) => ({ name: { common }, region: "Europe", rank: 1, area });
await ask(url, create, { key: "FRA", country: country("France", 1) });
await ask(url, create, { key: "DEU", country: country("Germany", 2) });

// Two queries and a mutation of the same member.
const ONE = `query ($key: ID!) { country(key: $key) { id name { common } area } }`;
const ALL = `{ countries(where: { region: { eq: Europe } }, orderBy: { key: DESC }) { nodes { id area } } }`;
const CHANGE = `mutation ($area: Float!) { updateCountry(key: "FRA", patch: { area: $area }) { id area } }`;

/** Checks that a client shows the areas that the mutation has returned, without further requests. */
async function check({ watch, mutate, requests, stop }, area) {
  let one, all;
  watch(ONE, { key: "FRA" }, (data) => (one = plain(data)));
  watch(ALL, {}, (data) => (all = plain(data)));
  await until(() => one?.country && all?.countries, "the first results");
  const sent = requests();
  await mutate(CHANGE, { area });
  await until(() => one.country.area === area, "the changed country");
  await until(() => all.countries.nodes[0].area === area, "the changed page");
  assert.deepEqual(one.country, { id: "countries/FRA", name: { common: "France" }, area });
  assert.equal(all.countries.nodes[1].area, 2);
  assert.equal(requests(), sent + 1);
  stop();
}

function apollo({ ApolloClient, HttpLink, InMemoryCache, gql }) {
  let sent = 0;
  const link = new HttpLink({ uri: url, fetch: (...given) => (sent++, fetch(...given)) });
  const client = new ApolloClient({ link, cache: new InMemoryCache() });
  const watched = [];
  return {
    watch(text, variables, shown) {
      const query = client.watchQuery({ query: gql(text), variables });
      watched.push(query.subscribe(({ data }) => shown(data)));
    },
    mutate: (text, variables) => client.mutate({ mutation: gql(text), variables }),
    requests: () => sent,
    stop() {
      for (const subscription of watched) subscription.unsubscribe();
      client.stop();
    },
  };
}

function urql() {
  let sent = 0;
  const client = createClient({
    url,
    preferGetMethod: false,
    fetch: (...given) => (sent++, fetch(...given)),
    exchanges: [cacheExchange({}), fetchExchange],
  });
  const watched = [];
  return {
    watch(text, variables, shown) {
      watched.push(client.query(gql(text), variables).subscribe(({ data }) => shown(data)));
    },
    mutate: (text, variables) => client.mutation(gql(text), variables).toPromise(),
    requests: () => sent,
    stop() {
      for (const { unsubscribe } of watched) unsubscribe();
    },
  };
}

await check(apollo(client4), 10);
await check(apollo(client3), 20);
await check(urql(), 30);

// The configuration of docs/types.md, without a map of scalars.
function run(program, ...given) {
  const { status, stdout, stderr } = spawnSync(`../node_modules/.bin/${program}`, given, {
    cwd: "typed",
    encoding: "utf8",
  });
  assert.equal(status, 0, `${program}: ${stdout}${stderr}`);
}

rmSync("typed", { recursive: true, force: true });
mkdirSync("typed/src", { recursive: true });
const served = await fetch(new URL("/schema.graphql", url));
writeFileSync("typed/schema.graphql", await served.text());
const [config] = blocks("From documents to TypeScript", "ts", "types.md");
assert(!config.includes("scalars"));
writeFileSync("typed/codegen.ts", config);
copyFileSync("typed.ts", "typed/src/app.ts");
run("graphql-codegen", "--config", "codegen.ts");
const compiler = {
  strict: true,
  noEmit: true,
  target: "es2022",
  module: "esnext",
  moduleResolution: "bundler",
  lib: ["es2023", "dom"],
  types: [],
};
writeFileSync(
  "typed/tsconfig.json",
  JSON.stringify({ compilerOptions: compiler, include: ["src"] }),
);
run("tsc", "--project", ".");
// What the operations return is known.
const operations = readFileSync("typed/src/gql/graphql.ts", "utf8")
  .split("\n")
  .filter((line) => /^export type \w+(Query|Mutation) =/.test(line));
assert.equal(operations.length, 4);
for (const line of operations) assert.doesNotMatch(line, /\b(unknown|any)\b/);
process.exit(0);
