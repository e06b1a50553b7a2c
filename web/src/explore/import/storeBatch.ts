// Stores documents with one mutation, which stores all of them or none.
import { RawJson } from '../../api/json';
import { isForbiddenByRules, request, RequestError } from '../../api/request';
import { StoredDocument, TypedDocumentString } from '../../api/generated';
import type { Prepared } from './importFile';

export interface BatchFailure {
  /** Undefined if the error is about no document: the connection, or the token. */
  document: Prepared | undefined;
  error: Error;
}

export interface Stored {
  /** How many of the documents are stored, from the first one on. */
  stored: number;
  failure?: BatchFailure;
}

/**
 * Stores the documents up to the first one that fails. A key that is from the document replaces what is stored
 * under it. A generated key does not: it can be that of another import, so the documents must be equal.
 */
export async function storeBatch(collection: string, documents: readonly Prepared[]): Promise<Stored> {
  /** Generated keys that are taken. */
  const taken = new Set<Prepared>();
  let stored = 0;
  /** The end of the next mutation, and the error of the document there, if it is known. */
  let end = documents.length;
  let failed: Error | undefined;
  while (stored < documents.length) {
    try {
      await request(mutationOf(documents.slice(stored, end), taken), variablesOf(collection, documents.slice(stored, end)));
      stored = end;
      if (failed) return { stored, failure: { document: documents[end], error: failed } };
      end = documents.length;
    } catch (error) {
      if (!(error instanceof RequestError)) return { stored, failure: { document: undefined, error: error as Error } };
      const at = indexOf(error);
      const document = at === undefined ? undefined : documents[stored + at];
      if (document && error.code === 'ALREADY_EXISTS' && document.generated && !taken.has(document)) {
        const others = await storedOf(collection, documents.slice(stored + 1));
        if (others instanceof Error) return { stored, failure: { document: undefined, error: others } };
        for (const other of [document, ...others]) taken.add(other);
      } else if (document && at !== undefined) {
        const said = taken.has(document) && error.code === 'TEST_FAILED' ? differs(document) : error;
        if (at === 0) return { stored, failure: { document, error: said } };
        [end, failed] = [stored + at, said];
      } else if (isAboutSize(error) && end - stored > 1) {
        [end, failed] = [stored + Math.floor((end - stored) / 2), undefined];
      } else {
        return { stored, failure: { document: isAboutSize(error) ? documents[stored] : undefined, error } };
      }
    }
  }
  return { stored };
}

const differs = ({ key }: Prepared) =>
  new Error(`Another document is stored under the generated key ${key}. Give the member with the key, or another name for generated keys.`);

/** Those with generated keys that are stored already, as far as access rules allow to find them. */
async function storedOf(collection: string, documents: readonly Prepared[]): Promise<Prepared[] | Error> {
  const generated = documents.filter((document) => document.generated);
  if (generated.length === 0) return [];
  try {
    const { documents } = await request(StoredDocument, { collection, keys: { in: generated.map(({ key }) => key) } });
    const stored = new Set(documents.nodes.map(({ key }) => key));
    return generated.filter(({ key }) => stored.has(key));
  } catch (error) {
    return isForbiddenByRules(error) ? [] : (error as Error);
  }
}

/** Errors of a whole request that fewer documents may not have. The body can be no JSON: a lone surrogate. */
const isAboutSize = ({ code }: RequestError) => ['TOO_LARGE', 'TOO_COMPLEX', 'TIMEOUT', 'BAD_USER_INPUT'].includes(code);

/** The field of the error, which is the index of its document. */
function indexOf({ path }: RequestError): number | undefined {
  const field = /^d(\d+)$/.exec(String(path?.[0] ?? ''));
  return field ? Number(field[1]) : undefined;
}

function mutationOf(documents: readonly Prepared[], taken: ReadonlySet<Prepared>) {
  const types = documents.map((_, index) => `$k${index}: ID!, $v${index}: JSON`);
  const fields = documents.map((document, index) => {
    const at = `collection: $collection, id: $k${index}`;
    if (taken.has(document)) return `d${index}: testDocument(${at}, matches: { eq: $v${index} }) { key }`;
    const field = document.generated ? 'insertDocument' : 'replaceDocument';
    return `d${index}: ${field}(${at}, document: $v${index}) { key }`;
  });
  return new TypedDocumentString<unknown, Record<string, unknown>>(
    `mutation Import($collection: String!, ${types.join(', ')}) { ${fields.join(' ')} }`,
  );
}

function variablesOf(collection: string, documents: readonly Prepared[]): Record<string, unknown> {
  const pairs = documents.flatMap(({ key, text }, index) => [[`k${index}`, key], [`v${index}`, new RawJson(text)]]);
  return { collection, ...Object.fromEntries(pairs) };
}
