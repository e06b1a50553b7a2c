// Runs Relay's compiler with the server's schema, and its runtime with the generated code and a
// default store.
import assert from "node:assert/strict";
import { createClient } from "graphql-ws";
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { isDeepStrictEqual } from "node:util";
import runtime from "relay-runtime";
import WebSocket from "ws";
import { ask, plain, seed, until } from "./ask.mjs";
import { blocks } from "./page.mjs";

const {
  Environment,
  Network,
  Observable,
  RecordSource,
  Store,
  commitMutation,
  createOperationDescriptor,
  fetchQuery,
  getPaginationMetadata,
  getPaginationVariables,
  getRefetchMetadata,
  getRequest,
  getSingularSelector,
  requestSubscription,
} = runtime;

const url = process.argv[2];
const schema = await (await fetch(new URL("/schema.graphql", url))).text();

/** Runs Relay's compiler on notes.js in a folder and returns the generated files. */
function compile(folder, config, source) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(`${folder}/src/__generated__`, { recursive: true });
  writeFileSync(`${folder}/schema.graphql`, schema);
  copyFileSync("notes.js", `${folder}/src/${source}`);
  writeFileSync(`${folder}/relay.config.json`, config);
  const options = { cwd: folder, stdio: "pipe" };
  execFileSync("../node_modules/.bin/relay-compiler", ["relay.config.json"], options);
  return readdirSync(`${folder}/src/__generated__`).map((name) => ({
    name: name.split(".")[0],
    path: `./${folder}/src/__generated__/${name}`,
  }));
}

// The documented configuration has a type for each scalar.
const [config] = blocks("Relay", "json");
const typed = compile("relay-typescript", config, "notes.ts");
const types = (name) => readFileSync(typed.find((file) => file.name === name).path, "utf8");
assert.match(types("notesTitleQuery"), /path\?: string \| ReadonlyArray<string \| number> \| null/);
assert.match(types("notesTitleQuery"), /readonly value: unknown \| null/);
assert.match(types("notesReplaceMutation"), /version\?: string \| null/);
assert.match(types("notesTitleSubscription"), /readonly value: unknown \| null/);
assert(typed.every(({ name }) => !/: any\b/.test(types(name))), "a scalar has no type");

// The artifacts to run here.
const made = compile(
  "relay",
  JSON.stringify({
    ...JSON.parse(config),
    language: "javascript",
    eagerEsModules: false,
  }),
  "notes.js",
);
writeFileSync("relay/package.json", '{ "type": "commonjs" }');
const require = createRequire(import.meta.url);
const compiled = Object.fromEntries(made.map(({ name, path }) => [name, require(path)]));

// The documented network, with a function that fetches queries and mutations.
const [networkCode] = blocks("Relay", "js");
const names = ["Network", "Observable", "createClient", "fetchQuery"];
const documentedNetwork = new Function(...names, `${networkCode}; return network;`);

/** An environment with an empty store. */
function connect() {
  let sent = 0;
  const connectHere = (options) =>
    createClient({ ...options, url: url.replace("http", "ws"), webSocketImpl: WebSocket });
  const network = documentedNetwork(Network, Observable, connectHere, async (request, variables) => {
    const { text: query } = request;
    sent += 1;
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ query, variables }),
    });
    return response.json();
  });
  const environment = new Environment({ network, store: new Store(new RecordSource()) });
  const operation = (name, variables = {}) =>
    createOperationDescriptor(getRequest(compiled[name]), variables);
  return {
    requests: () => sent,
    query: (name, variables = {}) =>
      fetchQuery(environment, compiled[name], variables).toPromise(),
    cached: (name, variables) => environment.lookup(operation(name, variables).fragment).data,
    /** The data of a fragment on a referenced object. */
    read: (name, reference) =>
      environment.lookup(getSingularSelector(compiled[name], reference)).data,
    /** The data of an active query at each change. */
    async watch(name, variables) {
      const active = operation(name, variables);
      environment.retain(active);
      await fetchQuery(environment, compiled[name], variables ?? {}).toPromise();
      const snapshot = environment.lookup(active.fragment);
      const watched = { shown: plain(snapshot.data) };
      environment.subscribe(snapshot, ({ data }) => (watched.shown = plain(data)));
      return watched;
    },
    /** Subscribes. `ended` tells why the subscription ended, once it has. */
    subscribe(name, variables = {}) {
      const followed = { received: [], ended: undefined };
      const { dispose } = requestSubscription(environment, {
        subscription: compiled[name],
        variables,
        onNext: (data) => followed.received.push(plain(data)),
        onError: (error) => (followed.ended = error),
        onCompleted: () => (followed.ended = "complete"),
      });
      return Object.assign(followed, { dispose });
    },
    mutate: (name, variables, updater) =>
      new Promise((resolve, reject) => {
        commitMutation(environment, {
          mutation: compiled[name],
          variables,
          updater,
          onCompleted: resolve,
          onError: (error) => reject(new Error(error.source?.errors[0].extensions.code ?? error)),
        });
      }),
  };
}

/** Another user changes a title. The store is not notified. */
const elsewhere = (title) =>
  ask(
    url,
    `mutation ($title: JSON) {
      replaceDocument(id: "a", collection: "one", path: "/title", document: $title) { id }
    }`,
    { title },
  );

const titleOf = async () => {
  const query = `{ document(id: "a", collection: "one") { value(path: "/title") } }`;
  return (await ask(url, query)).document.value;
};

const CASES = [
  async function theSameKeysInTwoCollectionsAreTwoObjects({ query, cached }) {
    const shown = plain(await query("notesCollectionsQuery"));
    assert.deepEqual(plain(cached("notesCollectionsQuery")), shown);
    const texts = [shown.a, shown.b].map(({ nodes }) => nodes.map(({ id, value }) => [id, value]));
    assert.deepEqual(texts, [
      [["one/a", { tags: ["x", "y", "z"], title: "One A" }], ["one/42", "one 42"]],
      [["two/a", { tags: [], title: "Two A" }], ["two/42", "two 42"]],
    ]);
  },

  async function aPlaceIsOneObjectByPointerAndByList({ query, watch, requests }) {
    const watched = await watch("notesTitleQuery", { path: ["title"] });
    await elsewhere("Elsewhere");
    const before = requests();
    await query("notesTitleQuery", { path: "/title" });
    await until(() => watched.shown.document.value === "Elsewhere", "the query by list");
    assert.equal(requests() - before, 1);
  },

  async function aMutationThatSelectsThePartRefreshesActiveQueries({ mutate, watch, requests }) {
    const watched = await watch("notesTitleQuery", { path: "/title" });
    const before = requests();
    await mutate("notesReplaceMutation", { title: { new: ["title"] } });
    await until(() => watched.shown.document.value.new, "the part");
    assert.deepEqual(watched.shown.document, { id: "one/a#/title", value: { new: ["title"] } });
    assert.equal(requests() - before, 1, "the mutation and nothing else");
  },

  async function aDeletedDocumentIsRemovedByDeleteRecord({ mutate, watch }) {
    const list = await watch("notesListQuery");
    const title = await watch("notesWholeQuery");
    await mutate("notesDeleteMutation", { id: "a" }, (store, { deleteDocument }) =>
      store.delete(`${deleteDocument.deletedId}#`),
    );
    // List items of deleted objects are null. Applications skip them.
    await until(() => list.shown.documents.nodes.includes(null), "the list");
    assert.deepEqual(list.shown.documents.nodes, [null, { id: "one/42", key: "42" }]);
    await until(() => title.shown.document === null, "the document");
  },

  async function aLiveValueRefreshesActiveQueries({ watch, subscribe, requests }) {
    const title = await watch("notesTitleQuery", { path: ["title"] });
    const before = requests();
    const live = subscribe("notesTitleSubscription");
    await until(() => live.received.length === 1, "the first value");
    for (const shown of ["Elsewhere", { again: ["elsewhere"] }]) {
      await elsewhere(shown);
      await until(() => isDeepStrictEqual(title.shown.document.value, shown), "the query");
      assert.deepEqual(live.received.at(-1).document, { id: "one/a#/title", value: shown });
    }
    assert.equal(requests() - before, 0, "the subscription and nothing else");
    assert.equal(live.ended, undefined);
    live.dispose();
  },

  async function changesRefreshThePartsThatTheySelect({ watch, subscribe }) {
    const title = await watch("notesTitleQuery", { path: "/title" });
    const { changesCursor: after } = await ask(url, "{ changesCursor }");
    await elsewhere("Before");
    const changes = subscribe("notesChangesSubscription", { after });
    await elsewhere("After");
    await until(() => changes.received.length === 2, "both changes");
    const titles = changes.received.map(({ changes: { kind, patch } }) => [kind, patch[0].value]);
    assert.deepEqual(titles, [["UPDATED", "Before"], ["UPDATED", "After"]]);
    assert.equal(title.shown.document.value, "After");
    changes.dispose();
  },

  async function aSubscriptionThatIsRejectedEndsWithTheError({ subscribe }) {
    const refused = subscribe("notesChangesSubscription", { after: "no cursor" });
    await until(() => refused.ended, "the error");
    assert.match(JSON.stringify(refused.ended), /BAD_USER_INPUT/);
  },

  async function pagesOfChildrenAreReadThroughNode({ query, cached, read }) {
    const members = ["a", "b", "c", "d", "e"];
    await ask(
      url,
      `mutation ($document: JSON) {
        insertDocument(collection: "one", id: "long", document: $document) { id }
      }`,
      { document: { members } },
    );
    const { document } = await query("notesMembersQuery");
    const fragment = compiled.notesMembers;
    const values = () =>
      read("notesMembers", cached("notesMembersQuery").document).children.edges.map(
        ({ node }) => node.value,
      );
    assert.deepEqual(values(), ["a", "b"]);
    const { connectionPathInFragmentData, paginationMetadata, paginationRequest } =
      getPaginationMetadata(fragment, "notesMembers");
    const { identifierInfo } = getRefetchMetadata(fragment, "notesMembers");
    assert.equal(identifierInfo.identifierField, "id");
    assert.deepEqual(connectionPathInFragmentData, ["children"]);
    for (const expected of [members.slice(0, 4), members]) {
      const { id, children } = read("notesMembers", document);
      assert.equal(id, "one/long#/members");
      assert(children.pageInfo.hasNextPage);
      const { endCursor } = children.pageInfo;
      const variables = getPaginationVariables(
        "forward",
        2,
        endCursor,
        { id },
        {},
        paginationMetadata,
      );
      assert.equal(paginationRequest.params.name, "notesMembersPageQuery");
      await query("notesMembersPageQuery", variables);
      assert.deepEqual(values(), expected);
    }
    assert.equal(read("notesMembers", document).children.pageInfo.hasNextPage, false);
  },

  async function aFragmentIsReadAgainThroughNode({ query, read }) {
    const { document } = await query("notesFormQuery");
    const form = document.document;
    assert.equal(read("notesForm", form).title, "One A");
    await elsewhere("Elsewhere");
    await query("notesFormRefetchQuery", { id: form.id });
    assert.equal(read("notesForm", form).title, "Elsewhere");
  },

  async function anOldValueIsPairedWithANewVersionAndAnUpdateIsLost({ query, read, mutate }) {
    const form = (await query("notesFormQuery")).document.document;
    await elsewhere("Elsewhere");
    await query("notesVersionsQuery");
    const { title, version } = read("notesForm", form);
    await mutate("notesReplaceMutation", { title: `${title}, edited`, version });
    assert.equal(await titleOf(), "One A, edited", "the other user's title is lost");
  },

  async function aTestOfTheShownValueRefusesTheLostUpdate({ query, read, mutate }) {
    const form = (await query("notesFormQuery")).document.document;
    await elsewhere("Elsewhere");
    await query("notesVersionsQuery");
    const { title } = read("notesForm", form);
    const patch = [
      { op: "test", path: "/title", value: title },
      { op: "replace", path: "/title", value: `${title}, edited` },
    ];
    await assert.rejects(mutate("notesPatchMutation", { patch }), /TEST_FAILED/);
    assert.equal(await titleOf(), "Elsewhere");
  },
];

for (const theCase of CASES) {
  await seed(url);
  await theCase(connect());
}