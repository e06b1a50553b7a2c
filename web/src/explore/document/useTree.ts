// Reads the levels of a document that are opened, and again what changes.
import { useCallback, useEffect, useReducer, useRef, useState } from 'react';
import { LevelDocument } from '../../api/generated';
import { request } from '../../api/request';
import { contains, pointerOf, type Path, type PathInput, type Segment } from '../place';
import { isContainer } from '../kinds';
import { readPlaces, readRoot, stillOpen, withValues } from './readPlaces';
import { affectedBy, EMPTY_TREE, openPlaces, reduceTree, type Level, type Place, type Tree } from './tree';

const PAGE = 100;
/** `children` gives at most as many; a longer level that changes is read again up to here. */
const PAGE_MAX = 10_000;

interface RootState {
  /** Whether the root is read. */
  loaded: boolean;
  error?: Error;
  /** The position in the change log of what is shown; null if the log is off. */
  cursor?: string | null;
}

export interface TreeControl extends RootState {
  tree: Tree;
  toggle: (place: Place) => void;
  more: (place: Place) => void;
  startAt: (place: Place, from: Segment | undefined) => void;
  /** Reads what is shown at and around these paths again. */
  refresh: (paths: readonly Path[]) => Promise<void>;
  reload: () => void;
}

/** The tree of the part of a document at `path`. */
export function useTree(collection: string, id: string, path: PathInput): TreeControl {
  const [tree, dispatch] = useReducer(reduceTree, EMPTY_TREE);
  const [root, setRoot] = useState<RootState>({ loaded: false });
  const [round, setRound] = useState(0);
  const shown = useRef(tree);
  shown.current = tree;

  const read = useCallback(
    async (path: Path, first: number, position: { after?: string | null; from?: Segment | undefined }) => {
      const variables = { collection, id, path, first, after: position.after ?? null, from: position.from ?? null };
      const { document } = await request(LevelDocument, variables);
      const places = await withValues({ collection, id }, document?.children.nodes ?? []);
      const info = document?.children.pageInfo;
      return { places, next: info?.hasNextPage ? info.endCursor : null };
    },
    [collection, id],
  );

  const load = useCallback(
    async (path: Path, first: number, from: Segment | undefined) => {
      dispatch({ type: 'loading', path });
      try {
        dispatch({ type: 'level', path, from, ...(await read(path, first, { from })) });
      } catch (error) {
        dispatch({ type: 'failed', path, error: error as Error });
      }
    },
    [read],
  );

  const loadAgain = useCallback(
    (path: Path, { levels }: Tree) => {
      const level = levels.get(pointerOf(path));
      return load(path, sizeOf(level), level?.from);
    },
    [load],
  );

  useEffect(() => {
    const abort = new AbortController();
    readRoot({ collection, id, path }, abort.signal).then(
      ({ place, cursor }) => {
        const before = shown.current;
        dispatch({ type: 'root', root: place });
        setRoot({ cursor, loaded: true });
        if (!place || !isContainer(place)) return;
        const open = place.id === before.root?.id ? openPlaces(before) : [];
        for (const { path } of open) void loadAgain(path, before);
        if (open.length > 0) return;
        dispatch({ type: 'open', path: place.path });
        void load(place.path, PAGE, undefined);
      },
      (error: Error) => abort.signal.aborted || setRoot((root) => ({ ...root, error })),
    );
    return () => abort.abort();
  }, [collection, id, path, round, load, loadAgain]);

  const toggle = useCallback(
    ({ path }: Place) => {
      const pointer = pointerOf(path);
      const open = shown.current.open.has(pointer);
      dispatch({ type: open ? 'close' : 'open', path });
      if (!open && !shown.current.levels.has(pointer)) void load(path, PAGE, undefined);
    },
    [load],
  );

  const more = useCallback(
    async ({ path }: Place) => {
      const level = shown.current.levels.get(pointerOf(path));
      if (!level || level.loading) return;
      if (level.next === null) return void load(path, PAGE, level.from);
      dispatch({ type: 'loading', path });
      try {
        dispatch({ type: 'more', path, ...(await read(path, PAGE, { after: level.next, from: level.from })) });
      } catch (error) {
        dispatch({ type: 'failed', path, error: error as Error });
      }
    },
    [load, read],
  );

  const startAt = useCallback(
    (place: Place, from: Segment | undefined) => void load(place.path, PAGE, from),
    [load],
  );

  const readAgain = useCallback(
    async (paths: readonly Path[]) => {
      const { root } = shown.current;
      // A change above the part changes the part.
      const inside = paths.map((path) => (root && contains(path, root.path) ? root.path : path));
      if (!root || (inside.includes(root.path) && !(await stillOpen({ collection, id, path: root.path }, root)))) {
        return setRound((round) => round + 1);
      }
      const { ids, levels } = affectedBy(shown.current, inside);
      const { places, gone } = await readPlaces({ collection, id }, [...ids], shown.current);
      dispatch({ type: 'refreshed', places });
      const parents = gone.map((id) => parentOf(shown.current, id)).filter((path) => path !== undefined);
      const again = new Map([...levels, ...parents].map((path) => [pointerOf(path), path]));
      await Promise.all(
        [...again].map(async ([pointer, path]) => {
          const level = shown.current.levels.get(pointer);
          if (!level) return;
          const page = await read(path, sizeOf(level), { from: level.from });
          dispatch({ type: 'level', path, from: level.from, ...page });
        }),
      );
    },
    [collection, id, read],
  );
  // One after the other, so that a later state never makes way for an earlier one.
  const queue = useRef(Promise.resolve());
  const refresh = useCallback(
    (paths: readonly Path[]) => {
      const failed = (error: Error) => setRoot((root) => ({ ...root, error }));
      queue.current = queue.current.then(() => readAgain(paths)).catch(failed);
      return queue.current;
    },
    [readAgain],
  );

  const reload = useCallback(() => setRound((round) => round + 1), []);
  return { tree, ...root, toggle, more: (place) => void more(place), startAt, refresh, reload };
}

/** As many children as are shown. */
const sizeOf = (level: Level | undefined) => Math.min(Math.max(level?.places.length ?? 0, PAGE), PAGE_MAX);

function parentOf(tree: Tree, id: string): Path | undefined {
  for (const { places } of tree.levels.values()) {
    const place = places.find((place) => place.id === id);
    if (place) return place.path.slice(0, -1);
  }
  return undefined;
}
