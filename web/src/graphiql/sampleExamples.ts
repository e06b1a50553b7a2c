// The queries of the tabs on a first visit to a store with the sample data: `countries` and `guides`. A tab is
// named after its operation. Values are read from a `subdocument` with its `id`, so that a query can be
// copied into a client with a cache.

const ONE_COUNTRY = `\
# Phyllo reads any part of a document by its path.
# Ctrl-Enter runs this, Ctrl-Space completes, and
# the first icon on the left opens the docs.
#
# No document? Run "phyllo sample" first.

query OneCountry {
  document(id: "FRA", collection: "countries") {
    version

    # A path as a list of keys and array indexes.
    # The id is that of the place, for caches.
    name: subdocument(path: ["name", "common"]) { id value }
    firstNeighbour: subdocument(path: ["borders", 0]) { id value }

    # The same as a JSON Pointer.
    capital: subdocument(path: "/capital/0") { id value }

    # The value at a path can be any JSON.
    languages: subdocument(path: "/languages") { id value }

    # Only the value. Clients with a cache do not
    # update it: docs/clients.md.
    area: value(path: "/area")
  }
}
`;

const BIG_DOCUMENT = `\
# "css" is one document. A part deep inside a
# document of 20 MB is read as fast as a part of
# this one.

query BigDocument($after: String) {
  grid: document(
    id: "css"
    collection: "guides"
    path: "/properties/grid"
  ) {
    path
    firefox: subdocument(path: "/support/firefox") { id value }
    status: subdocument(path: "/status") {
      id
      kind
      value
    }
  }

  # The members of a large object, page by page.
  # For the next page, replace null under
  # "Variables" below with endCursor, in quotes.
  properties: document(
    id: "css"
    collection: "guides"
    path: ["properties"]
  ) {
    kind
    children(first: 5, after: $after) {
      nodes {
        path
        firefox: subdocument(path: "/support/firefox") { id value }
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
}
`;

const SEVERAL_COUNTRIES = `\
# Several documents in one request, all read at
# one version of the store. The key of the first
# is under "Variables" below: try JPN or BRA.

query SeveralCountries($id: ID!) {
  yours: document(
    id: $id
    collection: "countries"
  ) { ...summary }
  italy: document(
    id: "ITA"
    collection: "countries"
  ) { ...summary }
  nowhere: document(
    id: "XYZ"
    collection: "countries"
  ) { ...summary }
}

fragment summary on Subdocument {
  name: subdocument(path: "/name/official") { id value }
  capital: subdocument(path: "/capital/0") { id value }
  area: subdocument(path: "/area") { id value }
  languages: subdocument(path: "/languages") { id value }
}
`;

const FIND_COUNTRIES = `\
# The documents that match a filter, a page at a
# time, and only the parts that you select. JSONPath
# names the values to compare and to return.

query FindCountries($after: String) {
  documents(
    collection: "countries"
    where: {
      at: "$.borders[*]"
      eq: "DEU"
      not: { at: "$.landlocked", eq: true }
    }
    orderBy: { by: "$.area", descending: true }
    first: 3
    after: $after
  ) {
    nodes {
      key
      name: subdocument(path: "/name/common") { id value }
      area: subdocument(path: "/area") { id value }
      tongues: select(query: "$.languages.*") {
        id
        value
      }
    }
    pageInfo {
      hasNextPage
      endCursor
    }

    # The index that was used. Without one, the
    # documents are examined one by one; createIndex
    # creates one.
    plan {
      index
      scanned
      returned
    }
  }
}
`;

const COLLECTIONS = `\
# The collections, and the number of documents in
# each.

query Collections {
  collections {
    name
    count
  }
}
`;

const INSERT_NOTE = `\
# A document is any JSON value, here or as a
# variable. Without an id it gets a random key. The
# fields of one mutation are committed together.

mutation InsertNote {
  insertDocument(
    document: {
      title: "Layers"
      tags: ["thin", "crisp"]
      done: false
    }
    collection: "notes"
  ) {
    key
    version
    value
  }
}
`;

const CHANGE_NOTE = `\
# Only leaves that differ are written. Run this
# twice: the second time "read" is 2. Each field
# sees the changes of the fields before it.

mutation ChangeNote {
  merged: mergeDocument(
    id: "mine"
    collection: "notes"
    patch: {title: "Layers", tags: ["thin"]}
  ) { version }
  appended: replaceDocument(
    id: "mine"
    collection: "notes"
    path: "/tags/-"
    document: "crisp"
  ) { subdocument(path: "/tags") { id value } }
  counted: incrementDocument(
    id: "mine"
    collection: "notes"
    path: "/read"
  ) { subdocument(path: "/read") { id value } }
}
`;

const LIVE = `\
# A subscription sends the value now, and again
# after each commit that changes it. Run this,
# open this page in a second window, and run
# ChangeNote there.
#
# It needs the change log, which new stores have.
# "--change-retention 24h" switches it on in others.

subscription Live {
  document(
    id: "mine"
    collection: "notes"
    path: "/read"
  ) {
    id
    value
  }
}
`;

export interface Example {
  query: string;
  /** JSON text. */
  variables?: string;
}

/** Queries that need no data of the store. */
export const EXAMPLES_WITHOUT_DATA: Example[] = [
  { query: COLLECTIONS },
  { query: INSERT_NOTE },
  { query: CHANGE_NOTE },
  { query: LIVE },
];

/** GraphiQL shows no variables in the first tab. */
export const SAMPLE_EXAMPLES: Example[] = [
  { query: ONE_COUNTRY },
  { query: BIG_DOCUMENT, variables: '{\n  "after": null\n}' },
  { query: SEVERAL_COUNTRIES, variables: '{\n  "id": "CHE"\n}' },
  { query: FIND_COUNTRIES, variables: '{\n  "after": null\n}' },
  ...EXAMPLES_WITHOUT_DATA,
];
