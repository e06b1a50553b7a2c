import { useMemo, useRef, useState } from 'react';
import { SampleDocument } from '../../api/generated';
import { isForbiddenByRules, request, RequestError } from '../../api/request';
import { useEditable } from '../../api/session';
import { useLoaded } from '../../api/useLoaded';
import { openInGraphiql } from '../../graphiql/handover';
import { Failure } from '../Failure';
import { LiveStatus } from '../LiveStatus';
import type { Path } from '../place';
import type { ListedCollection } from '../readCollections';
import { Title } from '../Title';
import { proposeSchema } from '../types/proposeSchema';
import { TypePanel } from '../types/TypePanel';
import { columnPaths, filterFields, type FilterField } from '../types/typePaths';
import type { LoadedType } from '../types/useCollectionType';
import { useLive } from '../useLive';
import { useRemembered } from '../useRemembered';
import { useThrottled } from '../useThrottled';
import { ColumnPicker } from './ColumnPicker';
import { firstColumns, sampledPaths, type SampledPath } from './columns';
import { filterOf, NO_SEARCH, tableQuery, type Order } from './filter';
import { FilterBuilder } from './FilterBuilder';
import { Indexes, SuggestedIndex } from './Indexes';
import { InsertForm } from './InsertForm';
import { PlanLine } from './PlanLine';
import { Table } from './Table';
import { useDocuments } from './useDocuments';

/** `count` is null if the server does not list the collection: it does not exist, or access rules hide it. */
export type Collection = Omit<ListedCollection, 'count'> & { count: number | null };

interface Props {
  collection: Collection;
  type: LoadedType;
  /** Reads the list of collections again. */
  onChanged: () => void;
  onImport: (() => void) | undefined;
}

/** The indexes of a collection and the table of its documents. */
export function CollectionView({ collection, type, onChanged, onImport }: Props) {
  const { name, count } = collection;
  const [inserting, setInserting] = useState(false);
  const newIndex = useRef<HTMLButtonElement>(null);
  const editable = useEditable() === true;
  const sample = useLoaded(name, async (signal) => {
    try {
      return sampledPaths(await request(SampleDocument, { collection: name }, { signal }));
    } catch (error) {
      // Access rules can allow the keys of documents that they do not allow as a whole.
      if (!isForbiddenByRules(error)) throw error;
      return [];
    }
  });
  const schema = type.type?.schema;
  const fields = useMemo(() => filterFields(schema, sample.data ?? []), [schema, sample.data]);
  return (
    <section className="collection">
      <header className="heading">
        <a href="#/" className="back">← Collections</a>
        <Title name={name} />
        <span className="about">
          {count === null ? 'not listed' : `${count.toLocaleString('en')} ${count === 1 ? 'document' : 'documents'}`}
        </span>
        {editable && (
          <button type="button" disabled={!type.loaded} onClick={() => setInserting(!inserting)} aria-expanded={inserting}>Insert</button>
        )}
        {onImport && <button type="button" onClick={onImport}>Import</button>}
      </header>
      {inserting && <InsertForm collection={name} schema={type.type?.schema} onDone={() => setInserting(false)} />}
      {count === null && (
        <p className="about">The server does not list this collection: it does not exist, or the access rules hide it from you.</p>
      )}
      <div className="definitions">
        <TypePanel
          collection={name}
          listed={collection.type}
          loaded={type}
          editable={editable}
          propose={() => proposeSchema(sample.data ?? [])}
          sampled={sample.data !== undefined || sample.error !== undefined}
          onChanged={onChanged}
        />
        <Indexes collection={collection} fields={fields} editable={editable} button={newIndex} onChanged={onChanged} />
      </div>
      {sample.error && <div><Failure error={sample.error} onRetry={sample.reload} /></div>}
      {sample.data && type.loaded && (
        <DocumentTable
          key={String(schema === undefined)}
          collection={collection}
          paths={columnPaths(schema, sample.data)}
          fields={fields}
          editable={editable}
          onChanged={onChanged}
          onIndexCreated={() => {
            newIndex.current?.focus();
            onChanged();
          }}
        />
      )}
    </section>
  );
}

interface TableProps extends Omit<Props, 'onImport' | 'type'> {
  paths: readonly SampledPath[];
  fields: readonly FilterField[];
  editable: boolean;
  onIndexCreated: () => void;
}

/** What a search costs at most: 10,000 documents are examined unless it is allowed to examine more. */
const EXAMINED_MORE = 1_000_000;

/** The list of collections is read again at most once in this time, however many documents come and go. */
const LIST_MS = 1_000;

function DocumentTable({ collection, paths, fields, editable, onChanged, onIndexCreated }: TableProps) {
  const { name } = collection;
  const [columns, setColumns] = useState<readonly Path[]>(() => firstColumns(paths));
  const [order, setOrder] = useRemembered<Order | undefined>(`order ${name}`, undefined);
  const [search, setSearch] = useRemembered(`search ${name}`, NO_SEARCH);
  const [scanLimit, setScanLimit] = useState<number | null>(null);
  const [news, setNews] = useState(0);
  const where = useMemo(() => {
    const kinds = new Map(fields.map(({ at, kinds }) => [at, kinds]));
    return filterOf(search, (at) => kinds.get(at) ?? []);
  }, [search, fields]);
  const documents = useDocuments({ collection: name, columns, where, order, scanLimit });
  const { rows, loading, error, plan, cursor, reload, refresh } = documents;
  const reloadAll = () => {
    setNews(0);
    reload();
    onChanged();
  };
  const readList = useThrottled(onChanged, LIST_MS);
  const live = useLive({ collection: name }, cursor, {
    onChanges(changes) {
      if (changes.some(({ key }) => key === null)) return reloadAll();
      const created = changes.filter(({ kind }) => kind === 'CREATED').length;
      setNews((news) => news + created);
      if (changes.some(({ kind }) => kind !== 'UPDATED')) readList();
      void refresh(new Set(changes.map(({ key }) => key ?? '')));
    },
    onExpired: reloadAll,
  });
  const expensive = error instanceof RequestError && error.limitName === 'scannedDocuments';
  return (
    <>
      <FilterBuilder
        collection={name}
        fields={fields}
        search={search}
        onSearch={(search) => (setSearch(search), setScanLimit(null))}
        onGraphiql={() => openInGraphiql(tableQuery(name, where, order, columns))}
        query={() => tableQuery(name, where, order, columns)}
      />
      {error && <div><Failure error={error} onRetry={documents.retry} /></div>}
      {expensive && scanLimit === null && (
        <p><button type="button" onClick={() => setScanLimit(EXAMINED_MORE)}>Examine up to {EXAMINED_MORE.toLocaleString('en')} documents</button></p>
      )}
      {(expensive || (plan && plan.index === null)) && editable && (
        <SuggestedIndex collection={collection} search={search} order={order} onCreated={onIndexCreated} />
      )}
      <ColumnPicker paths={paths} columns={columns} onColumns={setColumns} />
      <Table collection={name} columns={columns} documents={documents} order={order} onOrder={setOrder} />
      <footer className="about table-status">
        <span role="status">{loading ? 'Loading …' : `${rows.length.toLocaleString('en')} shown`}</span>
        {plan && (where || order) && <PlanLine plan={plan} />}
        {news > 0 && <button type="button" onClick={reloadAll}>{news} new, read again</button>}
        {cursor !== undefined && <LiveStatus state={live} />}
      </footer>
    </>
  );
}
