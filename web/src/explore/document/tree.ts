// The tree of a document: what of it is read, and the rows that it is shown as. Values to values; reading
// is in `useTree.ts`.
import type { PlaceFragment } from '../../api/generated';
import { pointerOf, type Path, type Segment } from '../place';
import { isContainer } from '../kinds';

/** A place, and the text of its value if that is short. */
export interface Place extends PlaceFragment {
  text?: string | undefined;
  /** Counts the changes of the place while it is shown. */
  changes?: number;
}

/** The children of a place that are read, without gaps. */
export interface Level {
  places: readonly Place[];
  /** The cursor of the next page; null after the last one. */
  next: string | null;
  /** The first page begins here instead of at the first child. */
  from?: Segment | undefined;
  loading: boolean;
  error?: Error | undefined;
}

export interface Tree {
  root: Place | null;
  /** By the JSON Pointer of the parent. A level that is closed keeps what was read. */
  levels: ReadonlyMap<string, Level>;
  open: ReadonlySet<string>;
}

export const EMPTY_TREE: Tree = { root: null, levels: new Map(), open: new Set() };
const EMPTY_LEVEL: Level = { places: [], next: null, loading: false };

export type Row =
  | { type: 'place'; place: Place; pointer: string; depth: number; open: boolean; index: number | undefined; siblings: number }
  | { type: 'more'; parent: Place; depth: number; level: Level }
  | { type: 'failure'; parent: Place; depth: number; error: Error };

export type TreeAction =
  | { type: 'root'; root: Place | null }
  | { type: 'open' | 'close'; path: Path }
  | { type: 'loading'; path: Path }
  | { type: 'level'; path: Path; places: readonly Place[]; next: string | null; from?: Segment | undefined }
  | { type: 'more'; path: Path; places: readonly Place[]; next: string | null }
  | { type: 'failed'; path: Path; error: Error }
  | { type: 'refreshed'; places: ReadonlyMap<string, Place | null> };

export function reduceTree(tree: Tree, action: TreeAction): Tree {
  switch (action.type) {
    case 'root':
      return rooted(tree, action.root);
    case 'open':
      return { ...tree, open: new Set(tree.open).add(pointerOf(action.path)) };
    case 'close':
      return { ...tree, open: new Set([...tree.open].filter((pointer) => pointer !== pointerOf(action.path))) };
    case 'loading':
      return withLevel(tree, action.path, (level) => ({ ...level, loading: true, error: undefined }));
    case 'level':
      return withLevel(tree, action.path, (level) => ({
        // From another child on, the places are others, and none has changed.
        places: level.from === action.from ? counted(level.places, action.places) : action.places,
        next: action.next,
        from: action.from,
        loading: false,
      }));
    case 'more':
      return withLevel(tree, action.path, (level) => ({
        ...level,
        places: [...level.places, ...action.places],
        next: action.next,
        loading: false,
      }));
    case 'failed':
      return withLevel(tree, action.path, (level) => ({ ...level, loading: false, error: action.error }));
    case 'refreshed':
      return refreshed(tree, action.places);
  }
}

/** Open levels stay until they are read again, and closed ones are read when they are opened. */
function rooted(tree: Tree, root: Place | null): Tree {
  if (!root || !isContainer(root) || root.id !== tree.root?.id) return { ...EMPTY_TREE, root };
  const levels = new Map([...tree.levels].filter(([pointer]) => tree.open.has(pointer)));
  return { ...tree, root, levels };
}

function withLevel(tree: Tree, path: Path, change: (level: Level) => Level): Tree {
  const pointer = pointerOf(path);
  return { ...tree, levels: new Map(tree.levels).set(pointer, change(tree.levels.get(pointer) ?? EMPTY_LEVEL)) };
}

/** Replaces the places with these ids. */
function refreshed(tree: Tree, places: ReadonlyMap<string, Place | null>): Tree {
  const next = (old: Place): Place => {
    const place = places.get(old.id);
    if (!place) return old;
    // The value of a long string is not read, so its kind and length do not say whether it changed.
    const unread = place.kind === 'STRING' && place.text === undefined;
    return unread ? { ...place, changes: (old.changes ?? 0) + 1 } : withCount(old, place);
  };
  const levels = [...tree.levels].map(([pointer, level]): [string, Level] =>
    level.places.some(({ id }) => places.get(id)) ? [pointer, { ...level, places: level.places.map(next) }] : [pointer, level],
  );
  return { ...tree, root: tree.root && next(tree.root), levels: new Map(levels) };
}

/** The places of a level that was read again, each with its number of changes. */
function counted(before: readonly Place[], after: readonly Place[]): Place[] {
  const old = new Map(before.map((place) => [place.id, place]));
  return after.map((place) => {
    const known = old.get(place.id);
    if (known) return withCount(known, place);
    return before.length > 0 ? { ...place, changes: 1 } : place;
  });
}

function withCount(old: Place, place: Place): Place {
  const same = old.kind === place.kind && old.length === place.length && old.text === place.text;
  const { changes = 0 } = old;
  return { ...place, changes: same ? changes : changes + 1 };
}

/** What is visible, from top to bottom. */
export function rowsOf(tree: Tree): Row[] {
  const rows: Row[] = [];
  if (tree.root) addRows(rows, tree, tree.root, 0, 0, 1);
  return rows;
}

function addRows(rows: Row[], tree: Tree, place: Place, depth: number, index: number | undefined, siblings: number): void {
  const pointer = pointerOf(place.path);
  const open = isContainer(place) && tree.open.has(pointer);
  rows.push({ type: 'place', place, pointer, depth, open, index, siblings });
  const level = open ? tree.levels.get(pointer) : undefined;
  if (!level) return;
  const siblingsBelow = place.length ?? level.places.length;
  level.places.forEach((child, index) => addRows(rows, tree, child, depth + 1, indexOf(child, level, index), siblingsBelow));
  if (level.error) rows.push({ type: 'failure', parent: place, depth: depth + 1, error: level.error });
  else if (level.next !== null || level.loading) rows.push({ type: 'more', parent: place, depth: depth + 1, level });
}

/** The position among all siblings; undefined if the level begins at a name, which does not say how many are before it. */
function indexOf({ path }: Place, { from }: Level, index: number): number | undefined {
  const last = path.at(-1);
  if (typeof last === 'number') return last;
  return from === undefined ? index : undefined;
}

/** The places whose levels are open and read. */
export function openPlaces(tree: Tree): Place[] {
  return [...knownPlaces(tree)].flatMap(([pointer, place]) =>
    tree.open.has(pointer) && tree.levels.has(pointer) ? [place] : [],
  );
}

/** What is read, by JSON Pointer. */
export function knownPlaces(tree: Tree): Map<string, Place> {
  const known = new Map<string, Place>();
  if (tree.root) known.set(pointerOf(tree.root.path), tree.root);
  for (const level of tree.levels.values()) level.places.forEach((place) => known.set(pointerOf(place.path), place));
  return known;
}

/** Which places and levels to read again after changes at `paths`. */
export function affectedBy(tree: Tree, paths: readonly Path[]): { ids: Set<string>; levels: Path[] } {
  const known = knownPlaces(tree);
  const ids = new Set<string>();
  const levels = new Map<string, Path>();
  for (const path of paths) {
    const pointer = pointerOf(path);
    const parent = known.get(pointerOf(path.slice(0, -1)));
    const place = known.get(pointer);
    if (place) ids.add(place.id);
    // The number of the parent's members can be another one.
    if (parent) ids.add(parent.id);
    if (parent && !place && tree.levels.has(pointerOf(parent.path))) levels.set(pointerOf(parent.path), parent.path);
    for (const [below] of tree.levels) {
      const owner = known.get(below);
      if (owner && (below === pointer || below.startsWith(`${pointer}/`))) levels.set(below, owner.path);
    }
  }
  return { ids, levels: [...levels.values()] };
}
