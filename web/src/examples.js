// The queries of the tabs on a first visit, and of a new tab. A tab is named after its operation.
// The queries read the collection `countries`, which `phyllo sample` stores, and the large document
// `compat` of the collection `mdn`, which docs/walk.md imports.

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
    name: value(path: ["name", "common"])
    firstNeighbour: value(path: ["borders", 0])

    # The same as a JSON Pointer.
    capital: value(path: "/capital/0")

    # The value at a path can be any JSON.
    languages: value(path: "/languages")

    # Nothing is stored here: null, and no error.
    king: value(path: "/king")
  }
}
`;

const BIG_DOCUMENT = `\
# "compat" is one document of 20 MB, which
# docs/walk.md imports. A part deep inside it is
# read as fast as a part of a small document.

query BigDocument($after: String) {
  grid: document(
    id: "compat"
    collection: "mdn"
    path: "/css/properties/grid/__compat"
  ) {
    path
    page: value(path: "/mdn_url")
    firefox: value(path: "/support/firefox")
    status: subdocument(path: "/status") {
      kind
      value
    }
  }

  # The members of a large object, page by page.
  # For the next page, replace null under
  # "Variables" below with endCursor, in quotes.
  properties: document(
    id: "compat"
    collection: "mdn"
    path: ["css", "properties"]
  ) {
    kind
    children(first: 5, after: $after) {
      nodes {
        path
        firefox: value(path: "/__compat/support/firefox")
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
  name: value(path: "/name/official")
  capital: value(path: "/capital/0")
  area: value(path: "/area")
  languages: value(path: "/languages")
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
      name: value(path: "/name/common")
      area: value(path: "/area")
      tongues: select(query: "$.languages.*") {
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
  ) { value(path: "/tags") }
  counted: incrementDocument(
    id: "mine"
    collection: "notes"
    path: "/read"
  ) { value }
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

/** The tabs of a first visit. GraphiQL shows no variables in the first one. */
export const EXAMPLES = [
  { query: ONE_COUNTRY },
  { query: BIG_DOCUMENT, variables: '{\n  "after": null\n}' },
  { query: SEVERAL_COUNTRIES, variables: '{\n  "id": "CHE"\n}' },
  { query: FIND_COUNTRIES, variables: '{\n  "after": null\n}' },
  { query: COLLECTIONS },
  { query: INSERT_NOTE },
  { query: CHANGE_NOTE },
  { query: LIVE },
];

/** What a new tab holds. */
export const EMPTY_TAB = `\
# Ctrl-Enter runs the query, Ctrl-Space completes it.

`;
