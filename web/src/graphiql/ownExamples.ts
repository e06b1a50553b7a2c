// Example queries of a collection, made from a sample of its documents.
import type { SampleQuery } from '../api/generated';
import { sampledPaths, type SampledPath } from '../explore/collection/columns';
import { jsonPathOf, type Path } from '../explore/place';
import { EXAMPLES_WITHOUT_DATA, type Example } from './sampleExamples';

/** Queries of a collection with these documents. */
export function examplesOf(collection: string, sample: SampleQuery): Example[] {
  const [first] = sample.documents.nodes;
  if (!first) return EXAMPLES_WITHOUT_DATA;
  const own = sampledPaths({ documents: { nodes: [first] } });
  const place = `collection: ${text(collection)}`;
  const scalars = own.filter(isScalar).slice(0, 3).map(({ path }) => path);
  const container = own.find(({ kinds }) => kinds[0] === 'OBJECT' || kinds[0] === 'ARRAY')?.path ?? [];
  const compared = sampledPaths(sample).find(isScalar)?.path;
  const key = text(first.key);
  return [
    { query: oneDocument(place, key, scalars, container) },
    { query: children(place, key, container), variables: '{\n  "after": null\n}' },
    ...(compared ? [{ query: find(place, compared), variables: '{\n  "after": null\n}' }] : []),
    ...EXAMPLES_WITHOUT_DATA,
  ];
}

const isScalar = ({ kinds }: SampledPath) => !kinds.includes('OBJECT') && !kinds.includes('ARRAY');

/** A string in GraphQL, which has the escapes of JSON. */
const text = (value: string) => JSON.stringify(value);

const fieldsOf = (paths: readonly Path[], indent: string) =>
  paths.map((path, index) => `${indent}part${index + 1}: subdocument(path: ${JSON.stringify(path)}) { id value }\n`).join('');

const oneDocument = (place: string, key: string, scalars: readonly Path[], container: Path) => `\
# Phyllo reads any part of a document by its path.
# Ctrl-Enter runs this, Ctrl-Space completes, and
# the first icon on the left opens the docs.

query OneDocument {
  document(id: ${key}, ${place}) {
    version
    kind

    # A path is a list of keys and array indexes, or
    # a JSON Pointer. The id is that of the place, for
    # caches.
${fieldsOf(scalars, '    ')}    container: subdocument(path: ${JSON.stringify(container)}) {
      id
      kind
      length
    }
  }
}
`;

const children = (place: string, key: string, container: Path) => `\
# The members of an object or the elements of an
# array, page by page. For the next page, replace
# null under "Variables" below with endCursor, in
# quotes.

query Children($after: String) {
  document(id: ${key}, ${place}, path: ${JSON.stringify(container)}) {
    kind
    length
    children(first: 5, after: $after) {
      nodes {
        path
        kind
        length
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
}
`;

const find = (place: string, compared: Path) => `\
# The documents that match a filter, a page at a
# time, and only the parts that you select. JSONPath
# names the values to compare.

query FindDocuments($after: String) {
  documents(
    ${place}
    where: { at: ${text(jsonPathOf(compared))}, exists: true }
    first: 5
    after: $after
  ) {
    nodes {
      key
      value: subdocument(path: ${JSON.stringify(compared)}) { id value }
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
