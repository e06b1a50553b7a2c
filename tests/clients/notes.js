// The operations of relay.mjs, for Relay's compiler. Their names begin with that of this file.
import { graphql } from "relay-runtime";

graphql`
  query notesCollectionsQuery {
    a: documents(collection: "one") { nodes { id value } }
    b: documents(collection: "two") { nodes { id value } }
  }
`;

graphql`
  query notesListQuery {
    documents(collection: "one") { nodes { id key } }
  }
`;

graphql`
  query notesVersionsQuery {
    documents(collection: "one") { nodes { id version } }
  }
`;

graphql`
  query notesTitleQuery($path: Path) {
    document(id: "a", collection: "one", path: $path) { id value }
  }
`;

graphql`
  query notesWholeQuery {
    document(id: "a", collection: "one") { id value }
  }
`;

graphql`
  query notesFormQuery {
    document(id: "a", collection: "one") { document { id ...notesForm } }
  }
`;

graphql`
  fragment notesForm on Document @refetchable(queryName: "notesFormRefetchQuery") {
    id version title: value(path: "/title")
  }
`;

graphql`
  query notesMembersQuery {
    document(id: "long", collection: "one", path: "/members") { ...notesMembers }
  }
`;

graphql`
  fragment notesMembers on Subdocument
  @argumentDefinitions(count: { type: "Int", defaultValue: 2 }, cursor: { type: "String" })
  @refetchable(queryName: "notesMembersPageQuery") {
    children(first: $count, after: $cursor) @connection(key: "notesMembers_children") {
      edges { node { id path value } }
    }
  }
`;

graphql`
  subscription notesTitleSubscription {
    document(id: "a", collection: "one", path: "/title") { id value }
  }
`;

graphql`
  subscription notesChangesSubscription($after: String) {
    changes(collection: "one", id: "a", after: $after) {
      kind
      patch
      document { id subdocument(path: "/title") { id value } }
    }
  }
`;

graphql`
  mutation notesReplaceMutation($title: JSON, $version: DocumentVersion) {
    replaceDocument(
      id: "a", collection: "one", path: "/title", document: $title, ifVersion: $version
    ) {
      id version subdocument(path: "/title") { id value }
    }
  }
`;

graphql`
  mutation notesPatchMutation($patch: JSON) {
    patchDocument(id: "a", collection: "one", patch: $patch) {
      id version subdocument(path: "/title") { id value }
    }
  }
`;

graphql`
  mutation notesDeleteMutation($id: ID!) {
    deleteDocument(id: $id, collection: "one") { deletedId @deleteRecord }
  }
`;
