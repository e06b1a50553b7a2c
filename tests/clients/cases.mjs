// Typical uses of normalizing clients, without cache configuration. Each case has its own documents
// and its own client.
import assert from "node:assert/strict";
import { ask, plain, seed, until } from "./ask.mjs";

/**
 * Runs the cases on a kind of client. `connect` creates one with an empty cache, with the default
 * or the documented configuration:
 * - `query(text, variables, from)` reads from the "cache", from the "network", or by the default
 *   policy, and returns the data; null if the cache lacks some of it
 * - `mutate(text, variables)` returns the data, and throws the code of an error
 * - `watch(text, variables, shown)` passes the data of an active query to `shown` at each change
 * - `pages(text)` reads all pages of the children of `document` and returns the merged page
 * - `requests()` returns the number of requests sent
 */
export async function run(url, connect) {
  const cases = [
    ...AS_IT_COMES.map((theCase) => ({ theCase, configured: false })),
    ...CONFIGURED.map((theCase) => ({ theCase, configured: true })),
  ];
  for (const { theCase, configured } of cases) {
    await seed(url);
    const client = connect(url, configured);
    const watch = async (text, variables) => {
      const watched = { shown: undefined };
      client.watch(text, variables, (data) => (watched.shown = plain(data)));
      await until(() => watched.shown?.document || watched.shown?.documents, text);
      return watched;
    };
    await theCase({ ...client, watch, url });
    client.stop();
  }
}

const TITLE = `query ($path: Path) { document(id: "a", collection: "one", path: $path) { id value } }`;

/** Another user changes a title. The client is not notified. */
const elsewhere = (url, title) =>
  ask(
    url,
    `mutation ($title: JSON) {
      replaceDocument(id: "a", collection: "one", path: "/title", document: $title) { id }
    }`,
    { title },
  );

const AS_IT_COMES = [
  async function valuesOfPathsStayStaleWhereSubdocumentsAreUpdated({ watch, mutate }) {
    const place = await watch(`{
      document(id: "a", collection: "one") { id title: subdocument(path: ["title"]) { id value } }
    }`);
    const otherObject = await watch(`{
      document(id: "a", collection: "one") { id title: value(path: "/title") }
    }`);
    const otherSpelling = await watch(`{
      documents(collection: "one", keys: { in: ["a"] }) { nodes { id title: value(path: ["title"]) } }
    }`);
    const sameField = await watch(`{
      documents(collection: "one", keys: { prefix: "a" }) { nodes { id title: value(path: "/title") } }
    }`);
    await mutate(`mutation {
      replaceDocument(id: "a", collection: "one", path: "/title", document: "New") {
        id
        title: value(path: "/title")
        place: subdocument(path: "/title") { id value }
      }
    }`);
    await until(() => place.shown.document.title.value === "New", "the changed place");
    await until(() => sameField.shown.documents.nodes[0].title === "New", "the same field");
    await new Promise((waited) => setTimeout(waited, 50));
    // As docs/clients.md says: another object, and another spelling.
    assert.equal(otherObject.shown.document.title, "One A");
    assert.equal(otherSpelling.shown.documents.nodes[0].title, "One A");
  },

  async function theSameKeysInTwoCollectionsAreTwoObjects({ query, url }) {
    const text = `{
      a: documents(collection: "one") { nodes { id value } }
      b: documents(collection: "two") { nodes { id value } }
    }`;
    const shown = plain(await query(text));
    assert.deepEqual(shown, await ask(url, text));
    assert.deepEqual(plain(await query(text, {}, "cache")), shown);
    assert.deepEqual(shown, {
      a: {
        nodes: [
          { id: "one/a", value: { tags: ["x", "y", "z"], title: "One A" } },
          { id: "one/42", value: "one 42" },
        ],
      },
      b: {
        nodes: [
          { id: "two/a", value: { tags: [], title: "Two A" } },
          { id: "two/42", value: "two 42" },
        ],
      },
    });
  },

  async function partsOfOneDocumentStayApart({ query, url }) {
    const text = `query ($id: ID!, $path: Path) {
      whole: document(id: $id, collection: "one") {
        id path kind value
        tags: value(path: "/tags")
        first: subdocument(path: "/tags/0") { id path value }
        second: subdocument(path: ["tags", 1]) { id path value }
        children(first: 2) { nodes { id path kind } }
        document { id key collection value(path: "/title") tags: value(path: "/tags") }
      }
      part: document(id: $id, collection: "one", path: $path) {
        id path kind value
        document { id key tags: value(path: "/tags") subdocument(path: "/title") { id value } }
      }
    }`;
    const given = [
      { id: "a", path: "/tags" },
      { id: "a", path: ["title"] },
      { id: "a", path: "" },
      { id: "42", path: "" },
    ];
    for (const variables of given) {
      assert.deepEqual(plain(await query(text, variables)), await ask(url, text, variables));
    }
    for (const variables of given) {
      const cached = await query(text, variables, "cache");
      assert.deepEqual(plain(cached), await ask(url, text, variables));
    }
  },

  async function aPlaceIsOneObjectByPointerAndByList({ query, watch, requests, url }) {
    const watched = await watch(TITLE, { path: ["title"] });
    assert.deepEqual(watched.shown.document, { id: "one/a#/title", value: "One A" });
    await elsewhere(url, "Elsewhere");
    const before = requests();
    await query(TITLE, { path: "/title" }, "network");
    await until(() => watched.shown.document.value === "Elsewhere", "the query by list");
    const node = `{ node(id: "one/a#/title") { id ... on Subdocument { kind value } } }`;
    assert.equal((await query(node)).node.value, "Elsewhere");
    assert.equal(requests() - before, 2, "the active query was refreshed by the cache");
  },

  async function aMutationThatSelectsThePartRefreshesActiveQueries({ mutate, watch, requests }) {
    const title = await watch(TITLE, { path: "/title" });
    const through = await watch(
      `{ documents(collection: "one", where: {at: "$.title", exists: true}) {
        nodes { id subdocument(path: "/title") { id value } tags: value(path: "/tags") }
      } }`,
    );
    const before = requests();
    await mutate(
      `mutation ($title: JSON) {
        replaceDocument(id: "a", collection: "one", path: "/title", document: $title) {
          id version subdocument(path: "/title") { id value }
        }
      }`,
      { title: { new: ["title"] } },
    );
    await until(() => title.shown.document.value.new, "the part");
    assert.deepEqual(title.shown.document, { id: "one/a#/title", value: { new: ["title"] } });
    await until(() => through.shown.documents.nodes[0].subdocument.value.new, "the part in a list");
    assert.deepEqual(through.shown.documents.nodes[0].tags, ["x", "y", "z"]);
    assert.equal(requests() - before, 1, "the mutation and nothing else");
  },

  async function elementsThatMovedAreSelectedAgain({ mutate, watch, query, requests }) {
    const children = "id children { nodes { id value } }";
    const text = `{ document(id: "a", collection: "one", path: "/tags") { ${children} } }`;
    const watched = await watch(text);
    const values = () => watched.shown.document.children.nodes.map(({ value }) => value);
    assert.deepEqual(values(), ["x", "y", "z"]);
    const before = requests();
    const { deleteDocument } = await mutate(
      `mutation {
        deleteDocument(id: "a", collection: "one", path: "/tags/0") {
          deletedId value document { id subdocument(path: "/tags") { ${children} } }
        }
      }`,
    );
    assert.equal(deleteDocument.value, "x");
    await until(() => values().length === 2, "the elements");
    assert.deepEqual(values(), ["y", "z"]);
    // The deleted path has another value now, which must stay in the cache.
    assert.equal(deleteDocument.deletedId, "one/a#/tags/0");
    assert.deepEqual(watched.shown.document.children.nodes[0], { id: "one/a#/tags/0", value: "y" });
    assert.equal(plain(await query(text, {}, "cache")).document.children.nodes.length, 2);
    assert.equal(requests() - before, 1, "the mutation and nothing else");
  },

  // In the next three cases, a form shows a title that another user changes meanwhile.

  async function aCachePairsAnOldValueWithANewVersionAndAnUpdateIsLost({ query, mutate, url }) {
    const { shown, version } = await theFormAfterAListWasRead(query, url);
    await mutate(
      `mutation ($title: JSON, $version: DocumentVersion) {
        replaceDocument(
          id: "a", collection: "one", path: "/title", document: $title, ifVersion: $version
        ) { id version }
      }`,
      { title: `${shown}, edited`, version },
    );
    assert.equal(await titleOf(url), "One A, edited", "the other user's title is lost");
  },

  async function aTestOfTheShownValueRefusesTheLostUpdate({ query, mutate, url }) {
    const { shown } = await theFormAfterAListWasRead(query, url);
    const patch = (shown) => [
      { op: "test", path: "/title", value: shown },
      { op: "replace", path: "/title", value: `${shown}, edited` },
    ];
    const text = `mutation ($patch: JSON) {
      patchDocument(id: "a", collection: "one", patch: $patch) {
        id version subdocument(path: "/title") { id value }
      }
    }`;
    await assert.rejects(mutate(text, { patch: patch(shown) }), /TEST_FAILED/);
    assert.equal(await titleOf(url), "Elsewhere");
    // The form reads the current value, and its user decides.
    const { document } = await query(TITLE, { path: "/title" }, "network");
    await mutate(text, { patch: patch(document.value) });
    assert.equal(await titleOf(url), "Elsewhere, edited");
  },

  async function aVersionThatWasReadWithTheValueRefusesItToo({ mutate, url }) {
    const { document } = await ask(
      url,
      `{ document(id: "a", collection: "one", path: "/title") { value version } }`,
    );
    await elsewhere(url, "Elsewhere");
    const text = `mutation ($version: DocumentVersion) {
      replaceDocument(
        id: "a", collection: "one", path: "/title", document: "edited", ifVersion: $version
      ) { id }
    }`;
    await assert.rejects(mutate(text, { version: document.version }), /VERSION_MISMATCH/);
  },
];

const CONFIGURED = [
  async function aDeletedDocumentLeavesWhatShowsIt({ mutate, watch }) {
    const list = await watch(`{ documents(collection: "one") { nodes { id key } } }`);
    assert.equal(list.shown.documents.nodes.length, 2);
    const one = await watch(`{ document(id: "a", collection: "one") { id } }`);
    assert.deepEqual(one.shown, { document: { id: "one/a#" } });
    const { deleteDocument } = await mutate(
      `mutation { deleteDocument(id: "a", collection: "one") { deletedId } }`,
    );
    assert.equal(deleteDocument.deletedId, "one/a");
    await until(() => list.shown?.documents?.nodes.length === 1, "the list");
    assert.deepEqual(list.shown.documents.nodes, [{ id: "one/42", key: "42" }]);
    await until(() => one.shown?.document === null, "the document");
  },

  async function pagesOfChildrenGrow({ pages }) {
    const text = `query ($after: String) {
      document(id: "a", collection: "one", path: "/tags") {
        id
        children(first: 2, after: $after) {
          edges { cursor node { id value } }
          pageInfo { hasNextPage endCursor }
        }
      }
    }`;
    const { edges, pageInfo } = plain(await pages(text));
    assert.deepEqual(
      edges.map(({ node }) => node),
      ["x", "y", "z"].map((value, index) => ({ id: `one/a#/tags/${index}`, value })),
    );
    assert.equal(pageInfo.hasNextPage, false);
  },

  async function typesWithoutAnIdRaiseNoWarning({ query, url }) {
    const index = `mutation { createIndex(collection: "one", name: "t", on: ["$.title"]) { name } }`;
    await ask(url, index);
    // Its state changes once it is built, which could be between the two queries below.
    const state = `{ collections { indexes { state } } }`;
    while (JSON.stringify(await ask(url, state)).includes("BUILDING")) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const text = `{
      collections { name count indexes { name state } }
      documents(collection: "one", first: 1) { nodes { id } plan { scanned } }
    }`;
    assert.deepEqual(plain(await query(text)), await ask(url, text));
  },
];

/** A form reads a title, another user changes it, and then a list reads the versions. */
async function theFormAfterAListWasRead(query, url) {
  const form = `{
    document(id: "a", collection: "one") { id document { id version value(path: "/title") } }
  }`;
  const read = plain(await query(form)).document.document;
  await elsewhere(url, "Elsewhere");
  await query(`{ documents(collection: "one") { nodes { id version } } }`);
  const { value: shown, version } = plain(await query(form, {}, "cache")).document.document;
  assert.equal(shown, "One A", "the value is the old one");
  assert(version > read.version, "and its version the new one");
  return { shown, version };
}

const titleOf = async (url) =>
  (await ask(url, `{ document(id: "a", collection: "one") { value(path: "/title") } }`)).document
    .value;
