// Reads what the examples of a typed collection are made of.
import { TypedDocumentString } from '../api/generated';
import { request, requestText, ResponseTooLarge } from '../api/request';
import type { Example } from './sampleExamples';
import { requiredSelection, typedExamples, valueFields, type ExampleDocument } from './typedExamples';
import { readRootFields, readTypedCollection } from './readTypedSchema';
import type { RootFields, TypedCollection } from './typedSchema';

/** Typed collections that are asked for a document. */
const COLLECTIONS_MAX = 20;
const BYTES_MAX = 50_000;

interface Root extends RootFields {
  collection: string;
  /** Of its first document. */
  key: string;
}

let roots: Promise<readonly Root[]> | undefined;

/**
 * The typed fields of the schema, each with its collection. They are read once, and again with `renew`. None if introspection is
 * off, or if access rules forbid the documents.
 */
export function typedRoots(renew = false): Promise<readonly Root[]> {
  if (!roots || renew) roots = readRoots().catch(() => []);
  return roots;
}

/** Examples of the typed collection with most documents; none if there is none. */
export async function readTypedExamples(counts: ReadonlyMap<string, number>): Promise<Example[]> {
  try {
    const found = await typedRoots(true);
    const countOf = ({ collection }: Root) => counts.get(collection) ?? 0;
    const [largest] = [...found].sort((one, other) => countOf(other) - countOf(one));
    if (!largest) return [];
    const typed = await readTypedCollection(largest);
    return typedExamples(typed, await readDocument(typed, largest.key), countOf(largest));
  } catch {
    // Access rules can forbid parts of the document. The other examples need none of this.
    return [];
  }
}

interface FirstPage {
  nodes: ({ key: string; document: { collection: string } } | null)[];
}

async function readRoots(): Promise<readonly Root[]> {
  const found = (await readRootFields()).slice(0, COLLECTIONS_MAX);
  if (found.length === 0) return [];
  const pages = found.map(({ many }, index) => `p${index}: ${many}(first: 1) { nodes { key document { collection } } }`);
  const query = new TypedDocumentString<Record<string, FirstPage>, object>(`query Firsts { ${pages.join(' ')} }`);
  const data = await request(query, {});
  return found.flatMap((root, index) => {
    const first = data[`p${index}`]?.nodes[0];
    return first ? [{ ...root, key: first.key, collection: first.document.collection }] : [];
  });
}

async function readDocument(of: TypedCollection, key: string): Promise<ExampleDocument> {
  const fields = valueFields(of.fields).map(({ name }) => name);
  const values = new Map<string, string>();
  if (fields.length > 0) {
    const query = new TypedDocumentString<Record<string, unknown>, { key: string }>(
      `query First($key: ID!) { ${of.one}(key: $key) { ${fields.join(' ')} } }`,
    );
    const { json } = await requestText(query, { key }, { maxBytes: BYTES_MAX });
    for (const name of fields) values.set(name, json.at(['data', of.one, name]) ?? '');
  }
  return { key, values, required: await readRequired(of, key) };
}

/** What is selected is an input of the type, because both have the same members. */
async function readRequired(of: TypedCollection, key: string): Promise<string | undefined> {
  const selected = requiredSelection(of.fields);
  if (selected === undefined) return undefined;
  const query = new TypedDocumentString<Record<string, unknown>, { key: string }>(
    `query Required($key: ID!) { ${of.one}(key: $key) { ${selected} } }`,
  );
  try {
    const { json } = await requestText(query, { key }, { maxBytes: BYTES_MAX });
    return json.at(['data', of.one]);
  } catch (error) {
    if (error instanceof ResponseTooLarge) return undefined;
    throw error;
  }
}
