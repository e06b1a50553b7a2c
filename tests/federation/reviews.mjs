// A subgraph of reviews, each with a reference to a document by its global id. It has an interface
// `Node` of its own, and the field `node` of the whole graph.
import { serve } from "./serve.mjs";

/** Starts the subgraph with reviews of its own. */
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
