import { useId, useState, type RefObject } from 'react';
import { CreateIndexDocument, DropIndexDocument } from '../../api/generated';
import { request } from '../../api/request';
import { Failure } from '../Failure';
import { indexState } from '../indexState';
import { jsonPathOf } from '../place';
import type { FilterField } from '../types/typePaths';
import { useProgress } from '../useProgress';
import type { Collection } from './CollectionView';
import { indexablePaths, indexNameOf, isSearching, searchedPaths, type Order, type Search } from './filter';
import { IndexForm } from './IndexForm';

interface Props {
  collection: Collection;
  /** Paths that are offered for a new index. */
  fields: readonly FilterField[];
  editable: boolean;
  /** The button that opens the form. It gets the focus when what had it is gone. */
  button: RefObject<HTMLButtonElement | null>;
  onChanged: () => void;
}

/** The indexes of the collection with their state. */
export function Indexes({ collection, fields, editable, button, onChanged }: Props) {
  const { name, count, indexes } = collection;
  const [asked, setAsked] = useState<string>();
  const [error, setError] = useState<Error>();
  useProgress(indexes.some(({ state }) => state === 'BUILDING'), collection, onChanged);
  const [adding, setAdding] = useState(false);
  const close = () => {
    setAsked(undefined);
    setAdding(false);
    button.current?.focus();
  };
  const done = () => (close(), onChanged());
  const drop = (index: string) => request(DropIndexDocument, { collection: name, name: index }).then(done, setError);
  const listId = useId();
  if (indexes.length === 0 && !editable) return null;
  return (
    <>
      {indexes.length > 0 && (
        <ul className="indexes" aria-label="Indexes">
          {indexes.map((index) => (
            <li key={index.name}>
              <strong>{index.name}</strong> <code>{index.on.join(', ')}</code> {index.unique && 'unique '}
              {index.where !== null && <>where <code>{index.where}</code> </>}
              {index.state !== 'READY' && <em>{indexState(index, count)}</em>}{' '}
              {editable && asked !== index.name && (
                <button type="button" aria-label={`Drop the index ${index.name}`} onClick={() => setAsked(index.name)}>Drop</button>
              )}
              {asked === index.name && (
                <>
                  <button type="button" className="primary" autoFocus onClick={() => void drop(index.name)}>Drop {index.name}</button>{' '}
                  <button type="button" onClick={close}>Keep</button>
                </>
              )}
            </li>
          ))}
        </ul>
      )}
      {editable && (
        <button type="button" ref={button} aria-expanded={adding} onClick={() => setAdding(!adding)}>New index</button>
      )}
      {error && <Failure error={error} />}
      {adding && (
        <>
          <datalist id={listId}>{fields.map(({ at }) => <option key={at} value={at} />)}</datalist>
          <IndexForm collection={name} listId={listId} onDone={done} onCancel={close} />
        </>
      )}
    </>
  );
}

interface SuggestedProps {
  collection: Collection;
  search: Search;
  order: Order | undefined;
  onCreated: () => void;
}

/** Offers an index that would serve the search, if there can be one. */
export function SuggestedIndex({ collection, search, order, onCreated }: SuggestedProps) {
  const [error, setError] = useState<Error>();
  const filtered = indexablePaths(search);
  const paths = isSearching(search) || !order?.by ? filtered : [jsonPathOf(order.by)];
  // A partial index serves only searches that imply its filter.
  const known = collection.indexes.some(({ on, where }) => where === null && on.join('\n') === paths.join('\n'));
  const [searched] = searchedPaths(search);
  if (paths.length === 0 && (searched !== undefined || search.text !== '')) {
    return (
      <p className="suggestion">
        No index serves a search inside of strings, so documents are examined one by one.{' '}
        {searched === undefined ? 'An index on a path would serve “is” and “begins with”.' : <>An index on <code>{searched}</code> would serve “begins with”.</>}
      </p>
    );
  }
  if (paths.length === 0 || known) return error ? <Failure error={error} /> : null;
  const proposed = indexNameOf(paths);
  const name = collection.indexes.some(({ name }) => name === proposed) ? `${proposed}_all` : proposed;
  const create = () =>
    request(CreateIndexDocument, { collection: collection.name, name, on: paths }).then(onCreated, setError);
  return (
    <p className="suggestion">
      An index on <code>{paths.join(', ')}</code> would serve this.{' '}
      <button type="button" onClick={() => void create()}>Create the index</button>
      {error && <Failure error={error} />}
    </p>
  );
}
