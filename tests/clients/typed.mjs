// A collection with a type, used without configuration of its values: the generated TypeScript has no unknown
// types, and a mutation, an optimistic response and a subscription update what queries and pages have read, in the
// caches of Apollo Client 4 and 3 and of urql.
import * as client4 from "@apollo/client";
import { GraphQLWsLink } from "@apollo/client/link/subscriptions";
import { relayStylePagination as pagination4 } from "@apollo/client/utilities";
import client3 from "apollo-client-3/core/core.cjs";
import subscriptions3 from "apollo-client-3/link/subscriptions/subscriptions.cjs";
import utilities3 from "apollo-client-3/utilities/utilities.cjs";
import { createClient, fetchExchange, gql, subscriptionExchange } from "@urql/core";
import { cacheExchange } from "@urql/exchange-graphcache";
import { relayPagination } from "@urql/exchange-graphcache/extras";
import { createClient as createSocketClient } from "graphql-ws";
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import WebSocket from "ws";
import { ask, plain, until } from "./ask.mjs";
import { blocks } from "./page.mjs";

const { GraphQLWsLink: SocketLink3 } = subscriptions3;
const { relayStylePagination: pagination3 } = utilities3;

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
    borders: { type: "array", items: { ...text, "x-reference": { collection: "countries", as: "neighbors" } } },
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

const PAGE = `query ($after: String) {
  countries(orderBy: [{ key: ASC }], first: 1, after: $after) { ...Page }
}
fragment Page on CountryConnection {
  edges { cursor node { id area } }
  pageInfo { endCursor hasNextPage }
}`;
const LIVE = `subscription { country(key: "FRA") { id area } }`;

/** What both views of France show. */
const OPTIMISTIC = 1_000;

/** Requests can be held back. */
function network() {
  const state = { sent: 0, held: undefined };
  state.fetch = async (...given) => {
    state.sent++;
    await state.held;
    return fetch(...given);
  };
  return state;
}

/**
 * Checks that a client shows the areas that a mutation returns, those that it expects before the response, and
 * those that a subscription sends, in all of its queries and without further requests.
 */
async function check({ watch, mutate, subscribe, more, net, stop }, area) {
  let one, all, pages;
  watch(ONE, { key: "FRA" }, (data) => (one = plain(data)));
  watch(ALL, {}, (data) => (all = plain(data)));
  watch(PAGE, {}, (data) => (pages = plain(data)));
  const ready = () => one?.country && all?.countries && pages?.countries;
  await until(ready, "the first results");
  await more(pages.countries.pageInfo.endCursor);
  await until(() => pages.countries.edges.length === 2, "the second page");
  const shown = () => [
    one.country.area,
    all.countries.nodes[0].area,
    pages.countries.edges[1].node.area,
  ];
  const shows = (expected, what) => until(() => shown().every((area) => area === expected), what);
  const sent = net.sent;
  await mutate(CHANGE, { area });
  await shows(area, "the changed country");
  assert.deepEqual(one.country, { id: "countries/FRA", name: { common: "France" }, area });
  assert.equal(all.countries.nodes[1].area, 2);
  assert.deepEqual(pages.countries.edges[0].node, { id: "countries/DEU", area: 2 });
  assert.equal(net.sent, sent + 1, "the mutation and nothing else");
  let release;
  net.held = new Promise((released) => (release = released));
  const changed = mutate(CHANGE, { area: area + 1 }, OPTIMISTIC);
  await shows(OPTIMISTIC, "the area before the response");
  release();
  await changed;
  await shows(area + 1, "the area of the response");
  const end = subscribe(LIVE);
  await new Promise((waited) => setTimeout(waited, 100));
  await ask(url, CHANGE, { area: area + 2 });
  await shows(area + 2, "the area of the subscription");
  assert.equal(net.sent, sent + 2, "the mutations and nothing else");
  end();
  stop();
}

const socket = createSocketClient({ url: url.replace("http", "ws"), webSocketImpl: WebSocket });

/** Apollo Client. Only pages that grow are configured. */
function apollo({ ApolloClient, ApolloLink, HttpLink, InMemoryCache, gql }, SocketLink, relayStylePagination) {
  const net = network();
  const isSubscription = ({ query }) =>
    query.definitions.some(({ operation }) => operation === "subscription");
  const http = new HttpLink({ uri: url, fetch: net.fetch });
  const link = ApolloLink.split(isSubscription, new SocketLink(socket), http);
  const fields = { countries: relayStylePagination(["where", "orderBy"]) };
  const cache = new InMemoryCache({ typePolicies: { Query: { fields } } });
  const client = new ApolloClient({ link, cache });
  const watched = [];
  let last;
  return {
    net,
    watch(text, variables, shown) {
      last = client.watchQuery({ query: gql(text), variables });
      watched.push(last.subscribe(({ data }) => shown(data)));
    },
    more: (after) => last.fetchMore({ variables: { after } }),
    mutate(text, variables, area) {
      const country = { __typename: "Country", id: "countries/FRA", area };
      const optimisticResponse = area && { updateCountry: country };
      return client.mutate({ mutation: gql(text), variables, optimisticResponse });
    },
    subscribe(text) {
      const live = client.subscribe({ query: gql(text) }).subscribe({ next: () => {} });
      return () => live.unsubscribe();
    },
    stop() {
      for (const subscription of watched) subscription.unsubscribe();
      client.stop();
    },
  };
}

/** urql with Graphcache. Only pages that grow, and what is expected before a response, are configured. */
function urql() {
  const net = network();
  let expected;
  const optimistic = {
    updateCountry: () =>
      expected ? { __typename: "Country", id: "countries/FRA", area: expected } : null,
  };
  const forwardSubscription = ({ query, variables }) => ({
    subscribe: (sink) => ({ unsubscribe: socket.subscribe({ query, variables }, sink) }),
  });
  const client = createClient({
    url,
    preferGetMethod: false,
    fetch: net.fetch,
    exchanges: [
      cacheExchange({ optimistic, resolvers: { Query: { countries: pagesThatGrow() } } }),
      subscriptionExchange({ forwardSubscription }),
      fetchExchange,
    ],
  });
  const watched = [];
  const watch = (text, variables, shown) =>
    watched.push(client.query(gql(text), variables).subscribe(({ data }) => shown(data)));
  let pages;
  return {
    net,
    watch(text, variables, shown) {
      pages = shown;
      watch(text, variables, shown);
    },
    // The query of the next page is the one that shows all pages.
    async more(after) {
      watch(PAGE, { after }, pages);
    },
    mutate(text, variables, area) {
      expected = area;
      return client.mutation(gql(text), variables).toPromise();
    },
    subscribe: (text) => client.subscription(gql(text), {}).subscribe(() => {}).unsubscribe,
    stop() {
      for (const { unsubscribe } of watched) unsubscribe();
    },
  };
}

/** `relayPagination` for the queries that ask for `edges`. Others are pages of one response. */
function pagesThatGrow() {
  const grow = relayPagination();
  return (parent, given, cache, info) =>
    "first" in given ? grow(parent, given, cache, info) : cache.resolve(info.parentKey, info.parentFieldKey);
}

await check(apollo(client4, GraphQLWsLink, pagination4), 10);
await check(apollo(client3, SocketLink3, pagination3), 20);
await check(urql(), 30);
await socket.dispose();

// The configuration of docs/types.md, without a map of scalars.
function run(folder, program, ...given) {
  const { status, stdout, stderr } = spawnSync(`../node_modules/.bin/${program}`, given, {
    cwd: folder,
    encoding: "utf8",
  });
  assert.equal(status, 0, `${program}: ${stdout}${stderr}`);
}

/** A folder with the served schema and a program. */
const served = await (await fetch(new URL("/schema.graphql", url))).text();
function project(folder, program, options = {}) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(`${folder}/src`, { recursive: true });
  writeFileSync(`${folder}/schema.graphql`, served);
  copyFileSync(program, `${folder}/src/app.ts`);
  const compilerOptions = {
    strict: true,
    noEmit: true,
    target: "es2022",
    module: "esnext",
    moduleResolution: "bundler",
    lib: ["es2023", "dom"],
    types: [],
    ...options,
  };
  writeFileSync(`${folder}/tsconfig.json`, JSON.stringify({ compilerOptions, include: ["src"] }));
}

const [config] = blocks("From documents to TypeScript", "ts", "types.md");
assert(!config.includes("scalars"));
project("typed", "typed.ts");
writeFileSync("typed/codegen.ts", config);
run("typed", "graphql-codegen", "--config", "codegen.ts");
run("typed", "tsc", "--project", ".");
// What the operations return is known.
const operations = readFileSync("typed/src/gql/graphql.ts", "utf8")
  .split("\n")
  .filter((line) => /^export type \w+(Query|Mutation) =/.test(line));
assert.equal(operations.length, 4);
for (const line of operations) assert.doesNotMatch(line, /\b(unknown|any)\b/);

// gql.tada, whose types come from the texts of the operations, with the documented configuration.
const [{ plugins }] = blocks("gql.tada", "json").map((code) => JSON.parse(code).compilerOptions);
project("typed-tada", "typed_tada.ts", { plugins });
run("typed-tada", "gql.tada", "generate-output");
run("typed-tada", "gql.tada", "check");
run("typed-tada", "tsc", "--project", ".");
process.exit(0);
