// A collection with a type in Relay, whose compiler gets no map of scalars: pagination fragments, and mutations,
// optimistic responses and subscriptions that update what queries and pages have read.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createClient } from "graphql-ws";
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import runtime from "relay-runtime";
import WebSocket from "ws";
import { ask, plain, until } from "./ask.mjs";

const {
  Environment,
  Network,
  Observable,
  RecordSource,
  Store,
  commitMutation,
  createOperationDescriptor,
  fetchQuery,
  getPaginationMetadata,
  getPaginationVariables,
  getRequest,
  getSingularSelector,
  requestSubscription,
} = runtime;

// A warning of Relay, such as one about two objects with one id, is an error here.
console.warn = console.error = (...told) => assert.fail(told.join(" "));

const url = process.argv[2];
const text = { type: "string" };
const schema = {
  title: "Country",
  type: "object",
  properties: {
    name: { type: "object", properties: { common: text }, required: ["common"] },
    region: { enum: ["Africa", "Asia", "Europe"] },
    area: { type: "number" },
    rank: { type: "integer", minimum: 1, maximum: 300 },
    borders: { type: "array", items: { ...text, "x-reference": { collection: "countries", as: "neighbors" } } },
  },
  required: ["name", "region", "rank"],
};
const set = `mutation ($schema: JSON!) {
  setCollectionType(collection: "countries", schema: $schema) { state }
}`;
await ask(url, set, { schema });
const create = `mutation ($key: ID!, $country: CountryInput!) {
  createCountry(key: $key, country: $country) { key }
}`;
const country = (common, area, borders) => ({ name: { common }, region: "Europe", rank: 1, area, borders });
await ask(url, create, { key: "BEL", country: country("Belgium", 3, ["FRA", "DEU"]) });
await ask(url, create, { key: "DEU", country: country("Germany", 2, ["BEL", "FRA"]) });
await ask(url, create, { key: "FRA", country: country("France", 1, ["BEL", "DEU"]) });

const served = await (await fetch(new URL("/schema.graphql", url))).text();

/** Runs Relay's compiler on countries.js in a folder and returns the generated files. */
function compile(folder, source, language) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(`${folder}/src/__generated__`, { recursive: true });
  writeFileSync(`${folder}/schema.graphql`, served);
  copyFileSync("countries.js", `${folder}/src/${source}`);
  const config = {
    src: "./src",
    schema: "./schema.graphql",
    artifactDirectory: "./src/__generated__",
    eagerEsModules: false,
    language,
  };
  writeFileSync(`${folder}/relay.config.json`, JSON.stringify(config));
  const options = { cwd: folder, stdio: "pipe" };
  execFileSync("../node_modules/.bin/relay-compiler", ["relay.config.json"], options);
  return readdirSync(`${folder}/src/__generated__`).map((name) => ({
    name: name.split(".")[0],
    path: `./${folder}/src/__generated__/${name}`,
  }));
}

// The types of the data are known without a map of scalars.
const typed = compile("typed-relay-typescript", "countries.ts", "typescript");
const one = readFileSync(typed.find(({ name }) => name === "countriesOneQuery").path, "utf8");
assert.match(one, /readonly area: number \| null \| undefined/);
assert.match(one, /readonly common: string;/);
assert.match(one, /readonly rank: number;/);
assert.match(one, /export type CountryRegion = "Africa" \| "Asia" \| "Europe"/);
for (const { name, path } of typed) {
  assert.doesNotMatch(readFileSync(path, "utf8"), /: (any|unknown)\b/, name);
}

const made = compile("typed-relay", "countries.js", "javascript");
writeFileSync("typed-relay/package.json", '{ "type": "commonjs" }');
const require = createRequire(import.meta.url);
const compiled = Object.fromEntries(made.map(({ name, path }) => [name, require(path)]));

const socket = createClient({ url: url.replace("http", "ws"), webSocketImpl: WebSocket });
let sent = 0;
let held;
const network = Network.create(
  async ({ text: query }, variables) => {
    sent += 1;
    await held;
    return { data: await ask(url, query, variables) };
  },
  ({ text: query }, variables) =>
    Observable.create((sink) => socket.subscribe({ query, variables }, sink)),
);
const environment = new Environment({ network, store: new Store(new RecordSource()) });
const query = (name, variables = {}) => fetchQuery(environment, compiled[name], variables).toPromise();

/** The data of an active query, or of a fragment in it, at each change. */
async function watch(name, variables = {}, fragment) {
  const operation = createOperationDescriptor(getRequest(compiled[name]), variables);
  environment.retain(operation);
  await query(name, variables);
  let snapshot = environment.lookup(operation.fragment);
  if (fragment) snapshot = environment.lookup(getSingularSelector(compiled[fragment], snapshot.data));
  const watched = { shown: plain(snapshot.data), data: snapshot.data };
  environment.subscribe(snapshot, ({ data }) => Object.assign(watched, { shown: plain(data), data }));
  return watched;
}

const mutate = (name, variables, optimisticResponse) =>
  new Promise((resolve, reject) => {
    commitMutation(environment, {
      mutation: compiled[name],
      variables,
      optimisticResponse,
      onCompleted: resolve,
      onError: reject,
    });
  });

const france = await watch("countriesOneQuery", { key: "FRA" });
const all = await watch("countriesAllQuery");
const pages = await watch("countriesListQuery", {}, "countriesPage");

// The pagination fragment loads page by page.
const edges = () => pages.shown.countries.edges.map(({ node }) => node.id);
assert.deepEqual(edges(), ["countries/BEL"]);
assert.deepEqual(
  pages.shown.countries.edges[0].node.neighbors.map(({ id, name }) => [id, name.common]),
  [["countries/FRA", "France"], ["countries/DEU", "Germany"]],
);
const { paginationMetadata, paginationRequest } = getPaginationMetadata(compiled.countriesPage, "countriesPage");
while (pages.data.countries.pageInfo.hasNextPage) {
  const { endCursor } = pages.data.countries.pageInfo;
  const variables = getPaginationVariables("forward", 1, endCursor, {}, {}, paginationMetadata);
  await query(paginationRequest.params.name, variables);
}
await until(() => edges().length === 3, "all pages");
assert.deepEqual(edges(), ["countries/BEL", "countries/DEU", "countries/FRA"]);

// Each change is shown in all views, without further requests.
const shown = () => [
  france.shown.country.area,
  all.shown.countries.nodes[0].area,
  pages.shown.countries.edges[2].node.area,
];
const shows = (expected, what) => until(() => shown().every((area) => area === expected), what);
await shows(1, "the stored area");
const before = sent;
await mutate("countriesChangeMutation", { area: 10 });
await shows(10, "the changed area");
assert.deepEqual(france.shown.country.name, { common: "France" });
let release;
held = new Promise((released) => (release = released));
const expected = { updateCountry: { id: "countries/FRA", area: 1_000 } };
const changed = mutate("countriesChangeMutation", { area: 20 }, expected);
await shows(1_000, "the area before the response");
release();
await changed;
await shows(20, "the area of the response");
const live = requestSubscription(environment, {
  subscription: compiled.countriesLiveSubscription,
  variables: {},
  onError: (error) => assert.fail(error),
});
await new Promise((waited) => setTimeout(waited, 100));
await ask(url, 'mutation { updateCountry(key: "FRA", patch: { area: 30 }) { id } }');
await shows(30, "the area of the subscription");
live.dispose();
assert.equal(sent, before + 2, "the mutations and nothing else");

// A deleted document disappears from the views.
await mutate("countriesDeleteMutation", { key: "DEU" });
await until(() => pages.shown.countries.edges[1].node === null, "the page");
await until(() => all.shown.countries.nodes[1] === null, "the list");
await socket.dispose();
process.exit(0);
