// The documents of the table: a page at a time, and again what changes.
import { useCallback, useEffect, useRef, useState } from 'react';
import {
  RowsDocument,
  type DocumentFilter,
  type DocumentKeyFilter,
  type PlaceFragment,
  type RowsQuery,
  type RowsQueryVariables,
} from '../../api/generated';
import { isForbiddenByRules, request } from '../../api/request';
import type { Path } from '../place';
import { pagesOf, readShort, type Values } from '../values';
import { orderOf, type Order } from './filter';

const PAGE = 50;

export interface TableQuery {
  collection: string;
  columns: readonly Path[];
  where: DocumentFilter | null;
  order: Order | undefined;
  /** How many documents may be examined. */
  scanLimit: number | null;
}

export interface Row {
  key: string;
  cells: (PlaceFragment | null)[];
  /** Counts the changes of the document while it is shown. */
  changes: number;
}

export type Plan = NonNullable<RowsQuery['documents']['plan']>;

interface Pages {
  rows: readonly Row[];
  values: Values;
  plan: Plan | undefined;
  next: string | null;
  cursor: string | null | undefined;
}

export interface Documents extends Pages {
  loading: boolean;
  error: Error | undefined;
  more: () => void;
  reload: () => void;
  /** Reads what failed again. */
  retry: () => void;
  /** Reads documents that are shown again. */
  refresh: (keys: ReadonlySet<string>) => Promise<void>;
}

interface Failed {
  error: Error;
  retry: () => void;
}

const NOTHING: Pages = { rows: [], values: new Map(), plan: undefined, next: null, cursor: undefined };

export function useDocuments(query: TableQuery): Documents {
  const { collection, columns, where, order, scanLimit } = query;
  const [pages, setPages] = useState(NOTHING);
  const [loading, setLoading] = useState(true);
  const [failure, setFailure] = useState<Failed>();
  const [round, setRound] = useState(0);
  const shown = useRef(pages);
  shown.current = pages;

  const load = useCallback(
    async (before: Pages, signal: AbortSignal) => {
      setLoading(true);
      try {
        const page = await readPage({ collection, columns, where, order, scanLimit }, { after: before.next }, signal);
        if (signal.aborted) return;
        setPages({
          ...page,
          rows: [...before.rows, ...page.rows],
          values: new Map([...before.values, ...page.values]),
          cursor: before.cursor === undefined ? page.cursor : before.cursor,
        });
        setFailure(undefined);
      } catch (error) {
        if (signal.aborted) return;
        setFailure({ error: error as Error, retry: () => void load(before, signal) });
      }
      setLoading(false);
    },
    [collection, columns, where, order, scanLimit],
  );
  const abort = useRef(new AbortController());
  useEffect(() => {
    abort.current = new AbortController();
    void load(NOTHING, abort.current.signal);
    return () => abort.current.abort();
  }, [load, round]);

  const more = useCallback(() => void load(shown.current, abort.current.signal), [load]);
  const reload = useCallback(() => setRound((round) => round + 1), []);
  const readAgain = useCallback(
    async (keys: ReadonlySet<string>) => {
      const mine = shown.current.rows.filter(({ key }) => keys.has(key)).map(({ key }) => key);
      const read = (page: string[]) =>
        readPage({ collection, columns, where, order: undefined, scanLimit }, { keys: { in: page }, first: page.length }, abort.current.signal);
      const fresh = await Promise.all(pagesOf(mine).map(read));
      const rows = new Map(fresh.flatMap(({ rows }) => rows).map((row) => [row.key, row]));
      const values = fresh.flatMap(({ values }) => [...values]);
      setPages((old) => ({
        ...old,
        rows: old.rows
          .filter(({ key }) => !mine.includes(key) || rows.has(key))
          .map((row) => ({ ...row, ...rows.get(row.key), changes: row.changes + (rows.has(row.key) ? 1 : 0) })),
        values: new Map([...old.values, ...values]),
      }));
    },
    [collection, columns, where, scanLimit],
  );
  // One after the other, so that a later state never makes way for an earlier one.
  const queue = useRef(Promise.resolve());
  const refresh = useCallback(
    (keys: ReadonlySet<string>) => {
      const failed = (error: Error) => void (abort.current.signal.aborted || setFailure({ error, retry: reload }));
      queue.current = queue.current.then(() => readAgain(keys)).catch(failed);
      return queue.current;
    },
    [readAgain, reload],
  );
  const { error, retry = reload } = failure ?? {};
  return { ...pages, loading, error, more, reload, retry, refresh };
}

async function readPage(
  { collection, columns, where, order, scanLimit }: TableQuery,
  { first = PAGE, after = null, keys = null }: { first?: number; after?: string | null; keys?: DocumentKeyFilter | null },
  signal: AbortSignal,
): Promise<Pages> {
  const path = (column: number): Path => columns[column] ?? [];
  const has = (column: number) => column < columns.length;
  const variables = {
    collection, where, keys, orderBy: orderOf(order), first, after,
    // Rules with a condition forbid the argument, whatever its value.
    ...(scanLimit !== null && { scanLimit }),
    withPlan: where !== null || order !== undefined,
    c0: path(0), c1: path(1), c2: path(2), c3: path(3), c4: path(4), c5: path(5), c6: path(6), c7: path(7),
    with0: has(0), with1: has(1), with2: has(2), with3: has(3), with4: has(4), with5: has(5), with6: has(6), with7: has(7),
  };
  const { documents, changesCursor } = await requestRows(variables, signal);
  const rows = documents.nodes.map((node) => ({ key: node.key, cells: cellsOf(node), changes: 0 }));
  const values = await readShort(rows.flatMap(({ cells }) => cells.filter((cell) => cell !== null)), signal);
  const { pageInfo, plan } = documents;
  return { rows, values, plan, next: pageInfo.hasNextPage ? pageInfo.endCursor : null, cursor: changesCursor };
}

/** Rules with a condition allow the documents and forbid the plan: it is left out then. */
async function requestRows(variables: RowsQueryVariables, signal: AbortSignal): Promise<RowsQuery> {
  try {
    return await request(RowsDocument, variables, { signal });
  } catch (error) {
    if (!variables.withPlan || !isForbiddenByRules(error)) throw error;
    return request(RowsDocument, { ...variables, withPlan: false }, { signal });
  }
}

/** The cells of the columns that were asked for. */
function cellsOf({ c0, c1, c2, c3, c4, c5, c6, c7 }: RowsQuery['documents']['nodes'][number]): Row['cells'] {
  return [c0, c1, c2, c3, c4, c5, c6, c7].filter((cell) => cell !== undefined);
}
