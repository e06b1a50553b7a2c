// The values of places that are short enough to be shown whole.
import { TypedDocumentString, ValuesDocument, type PlaceFragment } from '../api/generated';
import { isForbiddenByRules, requestText } from '../api/request';
import { isContainer } from './kinds';
import { hasNameOfDigits, type Path } from './place';

/** Characters of the longest string that is read without being asked for. */
const LONGEST_SHOWN = 500;

/** `nodes(ids:)` takes as many. */
const IDS_MAX = 1_000;

/** JSON text by id of place. */
export type Values = ReadonlyMap<string, string>;

const isShort = (place: PlaceFragment) =>
  !isContainer(place) && (place.kind !== 'STRING' || (place.length ?? 0) <= LONGEST_SHOWN);

/** Places of one document can be read by their paths, if `of` names it. */
export async function readShort(
  places: readonly PlaceFragment[],
  signal?: AbortSignal,
  of?: { collection: string; id: string },
): Promise<Values> {
  const short = places.filter(isShort);
  const pages = pagesOf(short.map(({ id }) => id)).map((page) => readValues(page, signal));
  try {
    return new Map((await Promise.all(pages)).flatMap((page) => [...page]));
  } catch (error) {
    if (!of || !isForbiddenByRules(error) || !short.some(({ path }) => hasNameOfDigits(path))) throw error;
    const read = await readByPath<{ id: string }>(of, short.map(({ path }) => path), 'id value', signal);
    return new Map(read.flatMap(({ place, value }) => (place && value !== undefined ? [[place.id, value]] : [])));
  }
}

/** As many as a query may have fields with paths, and less. */
const PATHS_MAX = 200;

/** Selects `fields` at places of a document by their paths. The values are text. */
export async function readByPath<Fields>(
  { collection, id }: { collection: string; id: string },
  paths: readonly Path[],
  fields: string,
  signal?: AbortSignal,
): Promise<{ place: Fields | null; value: string | undefined }[]> {
  const read = async (page: Path[]) => {
    const types = page.map((_, index) => `$p${index}: Path!`).join(', ');
    const selected = page.map((_, index) => `p${index}: document(collection: $collection, id: $id, path: $p${index}) { ${fields} }`);
    const query = new TypedDocumentString<Record<string, Fields | null>, Record<string, unknown>>(
      `query Parts($collection: String!, $id: ID!, ${types}) { ${selected.join(' ')} }`,
    );
    const variables = { collection, id, ...Object.fromEntries(page.map((path, index) => [`p${index}`, path])) };
    const { data, json } = await requestText(query, variables, { signal });
    return page.map((_, index) => ({ place: data[`p${index}`] ?? null, value: json.at(['data', `p${index}`, 'value']) }));
  };
  return (await Promise.all(pagesOf(paths, PATHS_MAX).map(read))).flat();
}

async function readValues(ids: readonly string[], signal?: AbortSignal): Promise<Values> {
  const { data, json } = await requestText(ValuesDocument, { ids: [...ids] }, { signal });
  const texts = data.nodes.map((_, index) => json.at(['data', 'nodes', index, 'value']));
  return new Map(ids.flatMap((id, index) => (texts[index] === undefined ? [] : [[id, texts[index]]])));
}

export function pagesOf<Item>(items: readonly Item[], size = IDS_MAX): Item[][] {
  const pages = Math.ceil(items.length / size);
  return Array.from({ length: pages }, (_, page) => items.slice(page * size, (page + 1) * size));
}
