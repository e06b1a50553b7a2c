// The cases on Apollo Client 4 and Apollo Client 3.
import * as client4 from "@apollo/client";
import * as utilities4 from "@apollo/client/utilities";
import client3 from "apollo-client-3/core/core.cjs";
import utilities3 from "apollo-client-3/utilities/utilities.cjs";
import assert from "node:assert/strict";
import { until } from "./ask.mjs";
import { run } from "./cases.mjs";
import { blocks } from "./page.mjs";

// Warnings of these clients are errors here, for example about lost cache data.
console.warn = console.error = (...told) => assert.fail(told.join(" "));

const [, afterDeletion, pages] = blocks("Apollo Client", "js");
const { update } = new Function(`return { ${afterDeletion} };`)();
const typePolicies = new Function("relayStylePagination", `${pages} return typePolicies;`);

const POLICIES = { cache: "cache-only", network: "network-only" };

const connect = (library, utilities, codeOf) => (uri, configured) => {
  const { ApolloClient, HttpLink, InMemoryCache, gql } = library;
  let sent = 0;
  const link = new HttpLink({ uri, fetch: (...given) => (sent++, fetch(...given)) });
  const options = configured ? { typePolicies: typePolicies(utilities.relayStylePagination) } : {};
  const client = new ApolloClient({ link, cache: new InMemoryCache(options) });
  const watched = [];
  return {
    async query(text, variables, from) {
      const fetchPolicy = POLICIES[from] ?? "cache-first";
      return (await client.query({ query: gql(text), variables, fetchPolicy })).data;
    },
    async mutate(text, variables) {
      const options = configured ? { update } : {};
      try {
        return (await client.mutate({ mutation: gql(text), variables, ...options })).data;
      } catch (error) {
        throw new Error(codeOf(error), { cause: error });
      }
    },
    watch(text, variables, shown) {
      const query = client.watchQuery({ query: gql(text), variables });
      watched.push(query.subscribe(({ data }) => shown(data)));
    },
    async pages(text) {
      const query = client.watchQuery({ query: gql(text) });
      let shown;
      watched.push(query.subscribe(({ data }) => (shown = data?.document?.children)));
      await until(() => shown, "the first page");
      while (shown.pageInfo.hasNextPage) {
        const { length } = shown.edges;
        await query.fetchMore({ variables: { after: shown.pageInfo.endCursor } });
        await until(() => shown.edges.length > length, "the next page");
      }
      return shown;
    },
    requests: () => sent,
    stop() {
      for (const subscription of watched) subscription.unsubscribe();
      client.stop();
    },
  };
};

const url = process.argv[2];
await run(url, connect(client4, utilities4, ({ errors }) => errors[0].extensions.code));
await run(
  url,
  connect(client3, utilities3, ({ graphQLErrors }) => graphQLErrors[0].extensions.code),
);
