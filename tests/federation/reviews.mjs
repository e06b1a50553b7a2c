// A subgraph of reviews, each of which references a document by its global id. It defines its own
// interface `Node`, and the field `node` of the supergraph.
import { serve } from "./serve.mjs";

/** Starts the subgraph with its own reviews. */
export async function reviews() {
  const of = (id) => ({ __typename: "Document", id });
  const all = [
    { id: "reviews/1", text: "Crisp", document: of("notes/apples") },
    { id: "reviews/2", text: "Hard", document: of("notes/42") },
    { id: "reviews/3", text: "Sweet", document: of("notes/apples") },
  ];
  const review = ({ id }) => all.find((review) => review.id === id);
  return serve("reviews", {
    Query: {
      reviews: () => all,
      node: (_, { id }) => (id.startsWith("reviews/") ? review({ id }) : of(id)),
    },
    Node: { __resolveType: ({ __typename = "Review" }) => __typename },
    Review: { __resolveReference: review },
    Document: {
      __resolveReference: (document) => document,
      reviews: ({ id }) => all.filter(({ document }) => document.id === id),
    },
  });
}
