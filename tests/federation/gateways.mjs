// Two gateways. Each function creates one for subgraphs: `execute`, the requests `sent` to the
// subgraphs, `stop`, and `mutationsTogether`, as in `queries.mjs`.
import { ApolloGateway, RemoteGraphQLDataSource } from "@apollo/gateway";
import { buildHTTPExecutor } from "@graphql-tools/executor-http";
import { getStitchedSchemaFromSupergraphSdl } from "@graphql-tools/federation";
import { graphql, parse, print } from "graphql";
import { composedByApollo, composedByGuild } from "./compose.mjs";

/** Apollo's gateway. */
export async function ofApollo(services) {
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
}

/** The Guild's gateway. */
export async function ofGuild(services) {
  const sent = [];
  const schema = getStitchedSchemaFromSupergraphSdl({
    supergraphSdl: composedByGuild(services),
    batch: true,
    onSubschemaConfig(subschema) {
      const endpoint = subschema.endpoint;
      const executor = buildHTTPExecutor({ endpoint });
      subschema.executor = (request) => {
        const { document, variables } = request;
        sent.push({ url: endpoint, query: print(document), variables });
        return executor(request);
      };
    },
  });
  const execute = async (source, variableValues) => {
    const answer = await graphql({ schema, source, variableValues, contextValue: {} });
    return JSON.parse(JSON.stringify(answer));
  };
  return { execute, sent, stop() {}, mutationsTogether: false };
}
