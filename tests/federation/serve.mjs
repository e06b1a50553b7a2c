// A subgraph of the tests: a schema with resolvers on a free port of loopback.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { buildSubgraphSchema } from "@apollo/subgraph";
import { graphql, parse } from "graphql";

/** Serves the schema in a file of this directory. */
export async function serve(name, resolvers) {
  const typeDefs = parse(readFileSync(new URL(`${name}.graphql`, import.meta.url), "utf8"));
  const schema = buildSubgraphSchema({ typeDefs, resolvers });
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const { query, variables, operationName } = JSON.parse(Buffer.concat(chunks));
    const answer = await graphql({
      schema,
      source: query,
      variableValues: variables,
      operationName,
    });
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(answer));
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  const url = `http://127.0.0.1:${server.address().port}/graphql`;
  return { name, url, typeDefs, stop: () => server.close() };
}
