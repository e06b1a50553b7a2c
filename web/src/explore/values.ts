// The values of places that are short enough to be shown whole.
import { ValuesDocument, type PlaceFragment } from '../api/generated';
import { requestText } from '../api/request';
import { isContainer } from './kinds';

/** Characters of the longest string that is read without being asked for. */
const LONGEST_SHOWN = 500;

/** `nodes(ids:)` takes as many. */
const IDS_MAX = 1_000;

/** JSON text by id of place. */
export type Values = ReadonlyMap<string, string>;

const isShort = (place: PlaceFragment) =>
  !isContainer(place) && (place.kind !== 'STRING' || (place.length ?? 0) <= LONGEST_SHOWN);

export async function readShort(places: readonly PlaceFragment[], signal?: AbortSignal): Promise<Values> {
  const ids = places.filter(isShort).map(({ id }) => id);
  const pages = await Promise.all(pagesOf(ids).map((page) => readValues(page, signal)));
  return new Map(pages.flatMap((page) => [...page]));
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
