import { useCallback, useEffect, useState } from 'react';
import { RowsDocument, SampleDocument, type CollectionsQuery, type RowsQuery } from '../api/generated';
import { request } from '../api/request';
import { useLoaded } from '../api/useLoaded';
import { firstColumns, sampledPaths } from './columns';
import { Failure } from './Failure';
import { jsonPathOf, type Path } from './place';
import { Table, type Order, type Row } from './Table';
import { readShort, type Values } from './values';

type Collection = CollectionsQuery['collections'][number];

/** The indexes of a collection and the table of its documents. */
export function CollectionView({ collection }: { collection: Collection }) {
  const sample = useLoaded(collection.name, async (signal) =>
    firstColumns(sampledPaths(await request(SampleDocument, { collection: collection.name }, signal))),
  );
  return (
    <section className="collection">
      <h1><bdi>{collection.name === '' ? '""' : collection.name}</bdi></h1>
      <p className="about">
        {collection.count.toLocaleString('en')} {collection.count === 1 ? 'document' : 'documents'}
      </p>
      {collection.indexes.length > 0 && (
        <ul className="indexes" aria-label="Indexes">
          {collection.indexes.map(({ name, on, unique, state, error }) => (
            <li key={name} title={error ?? undefined}>
              <strong>{name}</strong> {on.join(', ')} {unique && 'unique'} {state !== 'READY' && state.toLowerCase()}
            </li>
          ))}
        </ul>
      )}
      {sample.error && <Failure error={sample.error} />}
      {sample.data && <Documents collection={collection.name} columns={sample.data} />}
    </section>
  );
}

interface Loaded {
  rows: Row[];
  values: Values;
  index: string | null;
  next: string | null;
}

const NOTHING: Loaded = { rows: [], values: new Map(), index: null, next: null };

function Documents({ collection, columns }: { collection: string; columns: Path[] }) {
  const [order, setOrder] = useState<Order>();
  const [loaded, setLoaded] = useState(NOTHING);
  const [loading, setLoading] = useState(true);
  const [error, setError] = useState<Error>();

  const load = useCallback(
    async (before: Loaded, signal?: AbortSignal) => {
      setLoading(true);
      try {
        const next = await nextPage(collection, columns, order, before, signal);
        if (signal?.aborted) return;
        setLoaded(next);
        setError(undefined);
      } catch (error) {
        if (signal?.aborted) return;
        setError(error as Error);
      }
      setLoading(false);
    },
    [collection, columns, order],
  );
  useEffect(() => {
    const abort = new AbortController();
    void load(NOTHING, abort.signal);
    return () => abort.abort();
  }, [load]);

  return (
    <>
      {error && <Failure error={error} />}
      <Table collection={collection} columns={columns} {...loaded} order={order} onOrder={setOrder} />
      <p className="about" role="status">
        {loading ? 'Loading …' : `${loaded.rows.length.toLocaleString('en')} shown`}
        {order && !loading && (loaded.index ? `, sorted by the index ${loaded.index}` : ', sorted without an index')}{' '}
        {loaded.next !== null && (
          <button type="button" disabled={loading} onClick={() => void load(loaded)}>Show 50 more</button>
        )}
      </p>
    </>
  );
}

async function nextPage(
  collection: string,
  columns: readonly Path[],
  order: Order | undefined,
  before: Loaded,
  signal?: AbortSignal,
): Promise<Loaded> {
  const path = (column: number): Path => columns[column] ?? [];
  const orderBy = order ? [{ by: jsonPathOf(order.by), descending: order.descending }] : null;
  const { documents } = await request(
    RowsDocument,
    { collection, orderBy, after: before.next, c0: path(0), c1: path(1), c2: path(2), c3: path(3), c4: path(4) },
    signal,
  );
  const rows = documents.nodes.map((node) => ({ key: node.key, cells: cellsOf(node).slice(0, columns.length) }));
  const values = await readShort(rows.flatMap(({ cells }) => cells.filter((cell) => cell !== null)), signal);
  return {
    rows: [...before.rows, ...rows],
    values: new Map([...before.values, ...values]),
    index: documents.plan.index,
    next: documents.pageInfo.hasNextPage ? documents.pageInfo.endCursor : null,
  };
}

/** The cells of all columns that `Rows` has. */
function cellsOf({ c0, c1, c2, c3, c4 }: RowsQuery['documents']['nodes'][number]): Row['cells'] {
  return [c0, c1, c2, c3, c4];
}
