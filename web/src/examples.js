// What the page opens with on a first visit, and in a new tab. A tab is named after its
// operation. The queries read what the README imports: the collection `countries`, one
// document a country, and the one large document `compat` of the collection `mdn`.

const ONE_COUNTRY = `\
# Phyllo reads any part of a document by its path.
# Ctrl-Enter runs this, Ctrl-Space completes, and
# the first icon on the left opens the docs.
#
# No document? Import the README's data first.

query OneCountry {
  document(id: "FRA", collection: "countries") {
    version

    # A path as a list of keys and array indexes.
    name: value(path: ["name", "common"])
    firstNeighbour: value(path: ["borders", 0])

    # The same as a JSON Pointer.
    capital: value(path: "/capital/0")

    # What stands at a path can be any JSON.
    currencies: value(path: "/currencies")

    # Nothing stands here: null, and no error.
    king: value(path: "/king")
  }
}
`;

const BIG_DOCUMENT = `\
# "compat" is one document of 20 MB. A part deep
# inside it costs no more than one of a small one.

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
  # For the next page put endCursor, in quotes, in
  # the place of null under "Variables" below.
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
# one version of the store. The first one's id
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
# What passes a filter, a page at a time, and of
# each only what is shown. JSONPath selects what
# to compare, and any number of parts to return.

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

    # Which index was used. With none, documents
    # are looked at one by one; createIndex makes
    # one.
    plan {
      index
      scanned
      returned
    }
  }
}
`;

const COLLECTIONS = `\
# What is stored here, and how many documents each
# collection holds.

query Collections {
  collections {
    name
    count
  }
}
`;

const INSERT_NOTE = `\
# A document is any JSON, here or as a variable.
# Without an id it gets a random one. The fields
# of one mutation are committed together.

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
# Parts of documents change leaf by leaf. Run this
# twice: the second time "read" is 2. Each field
# sees what the ones before it wrote.

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

/** The tabs of a first visit. GraphiQL shows no variables in the first one. */
export const EXAMPLES = [
  { query: ONE_COUNTRY },
  { query: BIG_DOCUMENT, variables: '{\n  "after": null\n}' },
  { query: SEVERAL_COUNTRIES, variables: '{\n  "id": "CHE"\n}' },
  { query: FIND_COUNTRIES, variables: '{\n  "after": null\n}' },
  { query: COLLECTIONS },
  { query: INSERT_NOTE },
  { query: CHANGE_NOTE },
];

/** What a new tab holds. */
export const EMPTY_TAB = `\
# Ctrl-Enter runs what stands here, Ctrl-Space completes it.

`;
