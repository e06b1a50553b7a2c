// The cases on urql with Graphcache.
import { createClient, fetchExchange, gql } from "@urql/core";
import { cacheExchange } from "@urql/exchange-graphcache";
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { run } from "./cases.mjs";
import { blocks } from "./page.mjs";

// Its warnings are errors here.
console.warn = console.error = (...told) => assert.fail(told.join(" "));

writeFileSync("urql.page.mjs", blocks("urql", "js")[0]);
const { cache: configuredCache } = await import("./urql.page.mjs");

const POLICIES = { cache: "cache-only", network: "network-only" };

function connect(url, configured) {
  let sent = 0;
  const client = createClient({
    url,
    preferGetMethod: false,
    fetch: (...given) => (sent++, fetch(...given)),
    exchanges: [configured ? configuredCache : cacheExchange({}), fetchExchange],
  });
  const watched = [];
  const data = ({ data, error }) => {
    if (error) throw new Error(error.graphQLErrors[0]?.extensions.code ?? error, { cause: error });
    return data;
  };
  const query = async (text, variables = {}, from) =>
    data(await client.query(gql(text), variables, { requestPolicy: POLICIES[from] }).toPromise());
  return {
    query,
    mutate: async (text, variables = {}) =>
      data(await client.mutation(gql(text), variables).toPromise()),
    watch(text, variables = {}, shown) {
      const source = client.query(gql(text), variables);
      watched.push(source.subscribe((result) => shown(data(result))));
    },
    async pages(text) {
      let shown = (await query(text)).document.children;
      while (shown.pageInfo.hasNextPage) {
        shown = (await query(text, { after: shown.pageInfo.endCursor })).document.children;
      }
      return shown;
    },
    requests: () => sent,
    stop() {
      for (const { unsubscribe } of watched) unsubscribe();
    },
  };
}

await run(process.argv[2], connect);
