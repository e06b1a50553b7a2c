// Composes Phyllo with other subgraphs by two tools. Errors and hints are failures.
import assert from "node:assert/strict";
import { composeServices as apollo } from "@apollo/composition";
import { composeServices as guild } from "@theguild/federation-composition";
import { parse } from "graphql";

/** The data of a query to Phyllo. */
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

/** The subgraphs in the form that both tools expect. */
export async function subgraphs(phyllo, others) {
  const { _service } = await ask(phyllo, "{ _service { sdl } }");
  return [
    { name: "phyllo", url: phyllo, typeDefs: parse(_service.sdl) },
    ...others.map(({ name, url, typeDefs }) => ({ name, url, typeDefs })),
  ];
}

/** The supergraph composed by Apollo's tool. */
export function composedByApollo(services) {
  const composed = apollo(services);
  assert.deepEqual((composed.errors ?? []).map(String), []);
  assert.deepEqual(composed.hints.map(String), []);
  return composed.supergraphSdl;
}

/** The supergraph composed by The Guild's tool, which reports no hints. */
export function composedByGuild(services) {
  const composed = guild(services);
  assert.deepEqual((composed.errors ?? []).map(String), []);
  return composed.supergraphSdl;
}
