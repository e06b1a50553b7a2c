// A subgraph of products, each of which references its notes by collection and key.
import { serve } from "./serve.mjs";

const notes = (key) => ({ __typename: "Document", collection: "notes", key });

/** Starts the subgraph with its own products. */
export async function products() {
  const all = [
    { sku: "a", name: "Apple", notes: notes("apples") },
    { sku: "q", name: "Quince", notes: notes("42") },
    { sku: "u", name: "Unknown", notes: notes("nothing under this id") },
    { sku: "n", name: "Nameless", notes: null },
  ];
  return serve("products", {
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
      product: ({ collection, key }) =>
        all.find(({ notes }) => notes?.collection === collection && notes.key === key),
      // `value` is the part of the document that `@requires` selects.
      summary: ({ kind, value }) => `${kind}: ${JSON.stringify(value)}`,
    },
  });
}
