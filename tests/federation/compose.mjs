// Composition of Phyllo with other subgraphs, by two tools; errors and hints end it.
import assert from "node:assert/strict";
import { composeServices as apollo } from "@apollo/composition";
import { composeServices as guild } from "@theguild/federation-composition";
import { parse } from "graphql";

/** The data of a query that is sent to Phyllo. */
export async function ask(url, query, variables = {}) {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ query, variables }),
  });
  const answer = await response.json();
  assert.equal(answer.errors, undefined, JSON.stringify(answer));
  return answer.data;
}

/** The subgraphs as both tools take them. */
export async function subgraphs(phyllo, others) {
  const { _service } = await ask(phyllo, "{ _service { sdl } }");
  return [
    { name: "phyllo", url: phyllo, typeDefs: parse(_service.sdl) },
    ...others.map(({ name, url, typeDefs }) => ({ name, url, typeDefs })),
  ];
}

/** The supergraph as Apollo's tool makes it. */
export function composedByApollo(services) {
  const composed = apollo(services);
  assert.deepEqual((composed.errors ?? []).map(String), []);
  assert.deepEqual(composed.hints.map(String), []);
  return composed.supergraphSdl;
}

/** The supergraph as The Guild's tool makes it, which gives no hints. */
export function composedByGuild(services) {
  const composed = guild(services);
  assert.deepEqual((composed.errors ?? []).map(String), []);
  return composed.supergraphSdl;
}
