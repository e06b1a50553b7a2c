// Finds the documents to which a reference can lead.
import { KeysDocument, ReferencedDocument, SampleDocument, type DocumentFilter, type DocumentKeyFilter } from '../../api/generated';
import { isForbiddenByRules, request } from '../../api/request';
import { firstColumns, sampledPaths } from '../collection/columns';
import { filterOf, NO_SEARCH } from '../collection/filter';
import { jsonPathOf, type Path } from '../place';
import { readShort } from '../values';
import { textOfString } from '../document/strings';

export interface Referenced {
  key: string;
  /** A value that says what the document is; empty if there is none. */
  name: string;
}

const SHOWN = 20;

/** The documents whose key begins with the text, and then those whose name contains it in any case. */
export async function findReferenced(
  collection: string,
  named: Path | undefined,
  typed: string,
  signal: AbortSignal,
): Promise<Referenced[]> {
  const keys = keyFilter(typed);
  if (named === undefined) {
    const { documents } = await request(KeysDocument, { collection, keys }, { signal });
    return documents.nodes.slice(0, SHOWN).map(({ key }) => ({ key, name: '' }));
  }
  const byKey = await read(collection, named, { keys }, signal);
  if (typed === '' || byKey.length >= SHOWN) return byKey;
  // Without an index, this fails where the limit on examined documents does; the keys are offered all the same.
  const byName = await read(collection, named, { where: nameFilter(named, typed) }, signal).catch(() => []);
  const found = new Set(byKey.map(({ key }) => key));
  return [...byKey, ...byName.filter(({ key }) => !found.has(key))].slice(0, SHOWN);
}

/** The text of a number is an integer, which has no beginning. */
function keyFilter(typed: string): DocumentKeyFilter | null {
  if (typed === '') return null;
  return /^-?\d+$/.test(typed) || typed.startsWith('"') ? { in: [typed] } : { prefix: typed };
}

const nameFilter = (named: Path, value: string): DocumentFilter | null =>
  filterOf({ ...NO_SEARCH, conditions: [{ at: jsonPathOf(named), operator: 'containsAnyCase', value }] }, () => ['STRING']);

/** The path of the value that names a document, by the sample from which a table has its columns. */
export async function namePath(collection: string, signal: AbortSignal): Promise<Path | undefined> {
  try {
    const paths = sampledPaths(await request(SampleDocument, { collection }, { signal }));
    const texts = paths.filter(({ kinds }) => kinds.join() === 'STRING');
    const named = texts.find(({ path }) => path.some((step) => /name|title/i.test(String(step))));
    return named?.path ?? firstColumns(texts)[0];
  } catch (error) {
    if (!isForbiddenByRules(error)) throw error;
    return undefined;
  }
}

async function read(
  collection: string,
  path: Path,
  of: { keys?: DocumentKeyFilter | null; where?: DocumentFilter | null },
  signal: AbortSignal,
): Promise<Referenced[]> {
  const { documents } = await request(ReferencedDocument, { collection, path, first: SHOWN, keys: null, where: null, ...of }, { signal });
  const values = await readShort(documents.nodes.flatMap(({ name }) => (name ? [name] : [])), signal);
  return documents.nodes.map(({ key, name }) => {
    const json = name && values.get(name.id);
    return { key, name: json?.startsWith('"') ? textOfString(json) : '' };
  });
}
