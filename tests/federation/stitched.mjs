// Queries through The Guild's gateway.
import { buildHTTPExecutor } from "@graphql-tools/executor-http";
import { getStitchedSchemaFromSupergraphSdl } from "@graphql-tools/federation";
import { graphql, print } from "graphql";
import { composedByGuild } from "./compose.mjs";
import { through } from "./queries.mjs";

await through(async (services) => {
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
});
