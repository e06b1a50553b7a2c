// Queries through a gateway, from Phyllo to other subgraphs and vice versa.
import assert from "node:assert/strict";
import { ask, subgraphs } from "./compose.mjs";
import { products } from "./products.mjs";
import { reviews } from "./reviews.mjs";

/**
 * Sends the queries through a gateway. `gateway` creates one for the subgraphs. It has `execute`,
 * the requests `sent` to them, `stop`, and `mutationsTogether`: whether it sends the fields of a
 * mutation to Phyllo in one request, which is one transaction.
 */
export async function through(gateway) {
  const phyllo = process.argv[2];
  const others = [await products(), await reviews()];
  const { execute, sent, stop, mutationsTogether } = await gateway(await subgraphs(phyllo, others));
  const data = async (query, variables = {}) => {
    const answer = await execute(query, variables);
    assert.equal(answer.errors, undefined, `${query}\n${JSON.stringify(answer.errors)}`);
    return answer.data;
  };
  const toPhyllo = () => sent.filter(({ url }) => url === phyllo);
  for (const theCase of CASES) {
    sent.length = 0;
    await theCase({ data, execute, toPhyllo, mutationsTogether });
  }
  await stop();
  for (const other of others) other.stop();
}

const CASES = [
  async function aQueryThatStartsInTheOtherSubgraphReadsDocuments({ data, toPhyllo }) {
    const query = `{
      products {
        name
        notes { key title: value(path: "/title") subdocument(path: ["tags"]) { kind value } }
      }
    }`;
    assert.deepEqual(await data(query), {
      products: [
        {
          name: "Apple",
          notes: {
            key: "apples",
            title: "On apples",
            subdocument: { kind: "ARRAY", value: ["crisp", "sweet"] },
          },
        },
        {
          name: "Quince",
          notes: {
            key: "42",
            title: "On quinces",
            subdocument: { kind: "ARRAY", value: [] },
          },
        },
        // The product has a key for notes that do not exist in Phyllo.
        {
          name: "Unknown",
          notes: { key: "nothing under this id", title: null, subdocument: null },
        },
        { name: "Nameless", notes: null },
      ],
    });
    const asked = toPhyllo();
    assert.equal(asked.length, 1, "all documents in one request");
    assert.match(asked[0].query, /_entities/);
  },

  async function anUnknownDocumentIsNullAndTheOthersAreAnswered({ execute, toPhyllo }) {
    // `kind` is non-null, so the document is null if its kind is unknown.
    const { data } = await execute("{ products { sku notes { kind } } }");
    assert.deepEqual(data, {
      products: [
        { sku: "a", notes: { kind: "OBJECT" } },
        { sku: "q", notes: { kind: "OBJECT" } },
        { sku: "u", notes: null },
        { sku: "n", notes: null },
      ],
    });
    const [{ variables, query }] = toPhyllo();
    const raw = await ask(process.argv[2], query, variables);
    const kinds = Object.values(raw)[0].map((entity) => entity?.kind ?? null);
    assert.deepEqual(kinds, ["OBJECT", "OBJECT", null]);
  },

  async function aQueryThatStartsInPhylloGoesOnIntoTheOtherSubgraph({ data }) {
    const query = `query ($id: ID!, $path: Path) {
      document(id: $id, collection: "notes") {
        value(path: $path)
        document { collection product { sku name notes { key value(path: "/count") } } }
      }
    }`;
    assert.deepEqual(await data(query, { id: "42", path: ["title"] }), {
      document: {
        value: "On quinces",
        document: {
          collection: "notes",
          product: { sku: "q", name: "Quince", notes: { key: "42", value: null } },
        },
      },
    });
    assert.deepEqual((await data(query, { id: "alone" })).document, {
      value: { title: null },
      document: { collection: "notes", product: null },
    });
    assert.deepEqual(await data(query, { id: "nobody" }), { document: null });
  },

  async function whatTheOtherSubgraphRequiresIsReadFromPhyllo({ data }) {
    const query = `{
      product(sku: "a") { notes { summary core: value(path: "/parts/core") } }
      document(id: "42", collection: "notes") { document { summary } }
    }`;
    assert.deepEqual(await data(query), {
      product: { notes: { summary: 'OBJECT: "On apples"', core: { seeds: 5 } } },
      document: { document: { summary: 'OBJECT: "On quinces"' } },
    });
  },

  async function aReferenceByTheGlobalIdReadsDocuments({ data, toPhyllo }) {
    const query = `{
      reviews { id text document { id key collection value(path: "/title") product { sku } } }
    }`;
    const apples = {
      id: "notes/apples",
      key: "apples",
      collection: "notes",
      value: "On apples",
      product: { sku: "a" },
    };
    const quinces = {
      id: "notes/42",
      key: "42",
      collection: "notes",
      value: "On quinces",
      product: { sku: "q" },
    };
    assert.deepEqual(await data(query), {
      reviews: [
        { id: "reviews/1", text: "Crisp", document: apples },
        { id: "reviews/2", text: "Hard", document: quinces },
        { id: "reviews/3", text: "Sweet", document: apples },
      ],
    });
    // Gateways choose the name of the variable with the representations.
    const representations = toPhyllo().flatMap(({ variables }) => Object.values(variables).flat());
    assert(representations.some(({ id, key }) => id === "notes/42" && key === undefined));
  },

  async function oneKeyLeadsToTheOtherThroughPhyllo({ data }) {
    // The products have the key in the collection, the reviews the global id.
    const query = `{
      product(sku: "a") { notes { reviews { text } } }
      document(id: "42", collection: "notes") { document { reviews { text } product { sku } } }
    }`;
    assert.deepEqual(await data(query), {
      product: { notes: { reviews: [{ text: "Crisp" }, { text: "Sweet" }] } },
      document: { document: { reviews: [{ text: "Hard" }], product: { sku: "q" } } },
    });
  },

  async function theFieldNodeOfAnotherSubgraphLeadsToDocuments({ data }) {
    const query = `{
      review: node(id: "reviews/2") { __typename id ... on Review { text document { key kind } } }
      document: node(id: "notes/42") { __typename id ... on Document { key kind reviews { id } } }
    }`;
    assert.deepEqual(await data(query), {
      review: {
        __typename: "Review",
        id: "reviews/2",
        text: "Hard",
        document: { key: "42", kind: "OBJECT" },
      },
      document: {
        __typename: "Document",
        id: "notes/42",
        key: "42",
        kind: "OBJECT",
        reviews: [{ id: "reviews/2" }],
      },
    });
  },

  async function mutationsGoToPhylloWithJsonInVariablesAndInTheText({
    data,
    toPhyllo,
    mutationsTogether,
  }) {
    const insert = `mutation ($document: JSON, $path: Path) {
      insertDocument(id: "written", collection: "notes", document: $document) {
        id key version value(path: $path) product { sku }
      }
    }`;
    const document = {
      title: "Written",
      nested: [{ null: null, yes: true, no: false, number: -1.5e300, empty: {}, "": "é\n" }, []],
      __typename: "Product",
      $where: "kept",
    };
    const { insertDocument } = await data(insert, { document, path: "/nested/0" });
    assert.match(insertDocument.version, /^[0-9a-f]{20}$/);
    delete insertDocument.version;
    assert.deepEqual(insertDocument, {
      id: "notes/written",
      key: "written",
      value: document.nested[0],
      product: null,
    });
    const change = `mutation ($by: JSON!) {
      incrementDocument(id: "written", collection: "notes", path: "/read", by: $by) {
        value(path: "/read")
      }
      replaceDocument(
        id: "written", collection: "notes", path: ["nested"], document: [{a: [1, null, "x"]}, 2.5]
      ) { value(path: "/nested") }
      patchDocument(
        id: "written", collection: "notes"
        patch: [{op: "test", path: "/read", value: 7}, {op: "remove", path: "/nested/1"}]
      ) { value }
    }`;
    assert.deepEqual(await data(change, { by: 7 }), {
      incrementDocument: { value: 7 },
      replaceDocument: { value: [{ a: [1, null, "x"] }, 2.5] },
      patchDocument: {
        value: {
          $where: "kept",
          __typename: "Product",
          nested: [{ a: [1, null, "x"] }],
          read: 7,
          title: "Written",
        },
      },
    });
    assert.equal(toPhyllo().length, 1 + (mutationsTogether ? 1 : 3));
    const read = `{ document(id: "written", collection: "notes") { value(path: "/nested") } }`;
    assert.deepEqual(await data(read), { document: { value: [{ a: [1, null, "x"] }] } });
  },

  async function aMutationOfEachSubgraphIsOneOperationOfTheGraph({ data }) {
    const query = `mutation {
      renameProduct(sku: "q", name: "Quitte") { name notes { value(path: "/title") } }
      mergeDocument(id: "42", collection: "notes", patch: {title: "Von Quitten"}) {
        value(path: "/title") product { name }
      }
    }`;
    assert.deepEqual(await data(query), {
      renameProduct: { name: "Quitte", notes: { value: "On quinces" } },
      mergeDocument: { value: "Von Quitten", product: { name: "Quitte" } },
    });
  },

  async function anErrorOfPhylloReachesTheClientWithItsCode({ execute }) {
    const query = `mutation { insertDocument(id: "42", collection: "notes", document: 1) { key } }`;
    const { data, errors } = await execute(query);
    assert.equal(data?.insertDocument ?? null, null);
    assert.deepEqual(
      errors.map(({ extensions }) => extensions.code),
      ["ALREADY_EXISTS"],
    );
  },

  async function typesThatBothSubgraphsHaveComeFromEither({ data }) {
    const page = "pageInfo { hasNextPage hasPreviousPage }";
    const query = `{
      page(first: 1) { nodes { notes { children(first: 1) { nodes { path } ${page} } } } ${page} }
    }`;
    const pageInfo = { hasNextPage: true, hasPreviousPage: false };
    const children = { nodes: [{ path: ["count"] }], pageInfo };
    assert.deepEqual(await data(query), {
      page: { nodes: [{ notes: { children } }], pageInfo },
    });
  },
];
