// Reads places of a document with their short values.
import { PlacesDocument, RootDocument, type PlaceFragment } from '../../api/generated';
import { isForbiddenByRules, request } from '../../api/request';
import { isContainer } from '../kinds';
import { hasNameOfDigits, type PathInput } from '../place';
import { pagesOf, readByPath, readShort } from '../values';
import type { DocumentPlace } from './edit';
import { knownPlaces, type Place, type Tree } from './tree';

interface PartOfDocument extends DocumentPlace {
  path: PathInput;
}

export async function readRoot(at: PartOfDocument, signal: AbortSignal) {
  const { document, changesCursor } = await request(RootDocument, at, { signal });
  const [place = null] = document ? await withValues(at, [document], signal) : [];
  return { place, cursor: changesCursor };
}

/** Whether the root is of the kind that is shown. */
export async function stillOpen(at: PartOfDocument, root: Place): Promise<boolean> {
  const { document } = await request(RootDocument, at);
  return document?.kind === root.kind && isContainer(root);
}

export async function withValues(of: DocumentPlace, places: readonly PlaceFragment[], signal?: AbortSignal): Promise<Place[]> {
  const values = await readShort(places, signal, of);
  return places.map((place) => ({ ...place, text: values.get(place.id) }));
}

/** The places as they are now, and the ids of those that are no more. */
export async function readPlaces(of: DocumentPlace, ids: readonly string[], tree: Tree) {
  const found = await readById(ids).catch((error) => {
    const paths = [...knownPlaces(tree).values()].filter(({ id }) => ids.includes(id)).map(({ path }) => path);
    if (!isForbiddenByRules(error) || !paths.some(hasNameOfDigits)) throw error;
    return readByPath<PlaceFragment>(of, paths, 'id path kind length version').then((all) => all.map(({ place }) => place));
  });
  const stored = found.filter((place) => place !== null);
  const places = new Map((await withValues(of, stored)).map((place) => [place.id, place]));
  return { places, gone: ids.filter((id) => !places.has(id)) };
}

async function readById(ids: readonly string[]): Promise<(PlaceFragment | null)[]> {
  const pages = await Promise.all(pagesOf(ids).map((page) => request(PlacesDocument, { ids: page })));
  return pages.flatMap(({ nodes }) => nodes).map((node) => (node && 'id' in node ? (node as PlaceFragment) : null));
}
