// Queries through Apollo's gateway.
import { ApolloGateway, RemoteGraphQLDataSource } from "@apollo/gateway";
import { parse } from "graphql";
import { composedByApollo } from "./compose.mjs";
import { through } from "./queries.mjs";

await through(async (services) => {
  const sent = [];
  class Recorded extends RemoteGraphQLDataSource {
    willSendRequest({ request }) {
      sent.push({ url: this.url, query: request.query, variables: request.variables });
    }
  }
  const gateway = new ApolloGateway({
    supergraphSdl: composedByApollo(services),
    buildService: ({ url }) => new Recorded({ url }),
    logger: { debug() {}, info() {}, warn: console.warn, error: console.error },
  });
  const { schema, executor } = await gateway.load();
  const execute = async (query, variables) => {
    const document = parse(query);
    const answer = await executor({
      document,
      schema,
      request: { query, variables },
      operation: document.definitions[0],
      operationName: undefined,
      queryHash: query,
      context: {},
      metrics: {},
      cache: new Map(),
      overallCachePolicy: {},
    });
    return JSON.parse(JSON.stringify(answer));
  };
  return { execute, sent, stop: () => gateway.stop(), mutationsTogether: true };
});
