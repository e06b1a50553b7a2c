// The other subgraph: products, each with a reference to its notes, which are documents.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { buildSubgraphSchema } from "@apollo/subgraph";
import { graphql, parse } from "graphql";

const typeDefs = parse(readFileSync(new URL("products.graphql", import.meta.url), "utf8"));

const notes = (id) => ({ __typename: "Document", collection: "notes", id });

/** Starts the subgraph with products of its own on a free port of loopback. */
export async function products() {
  const all = [
    { sku: "a", name: "Apple", notes: notes("apples") },
    { sku: "q", name: "Quince", notes: notes("42") },
    { sku: "u", name: "Unknown", notes: notes("nothing under this id") },
    { sku: "n", name: "Nameless", notes: null },
  ];
  const resolvers = {
    Query: {
      products: () => all,
      product: (_, { sku }) => all.find((product) => product.sku === sku),
      page: (_, { first }) => ({
        nodes: all.slice(0, first),
        pageInfo: { hasNextPage: first < all.length, hasPreviousPage: false },
      }),
    },
    Mutation: {
      renameProduct(_, { sku, name }) {
        const product = all.find((product) => product.sku === sku);
        return product && Object.assign(product, { name });
      },
    },
    Product: {
      __resolveReference: ({ sku }) => all.find((product) => product.sku === sku),
    },
    Document: {
      __resolveReference: (document) => document,
      product: ({ collection, id }) =>
        all.find(({ notes }) => notes?.collection === collection && notes.id === id),
      // `value` is the part of the document that `@requires` asks for.
      summary: ({ kind, value }) => `${kind}: ${JSON.stringify(value)}`,
    },
  };
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
  return {
    url: `http://127.0.0.1:${server.address().port}/graphql`,
    typeDefs,
    stop: () => server.close(),
  };
}
