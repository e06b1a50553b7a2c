import { useState } from 'react';
import { CreateIndexDocument } from '../../api/generated';
import { request } from '../../api/request';
import { Failure } from '../Failure';
import { indexNameOf } from './filter';

interface Props {
  collection: string;
  /** The id of the paths that are offered. */
  listId: string;
  onDone: () => void;
  onCancel: () => void;
}

/** Creates an index on one or several paths. */
export function IndexForm({ collection, listId, onDone, onCancel }: Props) {
  const [paths, setPaths] = useState(['']);
  const [name, setName] = useState('');
  const [unique, setUnique] = useState(false);
  const [error, setError] = useState<Error>();
  const on = paths.filter((path) => path !== '');
  const proposed = indexNameOf(on);
  const create = () =>
    request(CreateIndexDocument, { collection, name: name === '' ? proposed : name, on, unique }).then(onDone, setError);
  return (
    <form
      className="form"
      aria-label="New index"
      onKeyDown={(event) => event.key === 'Escape' && onCancel()}
      onSubmit={(event) => (event.preventDefault(), void create())}
    >
      {paths.map((path, index) => (
        <label key={index} className="name-field">
          {index === 0 ? 'JSONPath' : 'Then'}{' '}
          <input
            list={listId}
            value={path}
            placeholder="$.path"
            spellCheck={false}
            autoFocus={index === paths.length - 1}
            onChange={(event) => setPaths(paths.map((old, at) => (at === index ? event.target.value : old)))}
          />
        </label>
      ))}
      <label className="name-field">
        Name <input value={name} placeholder={proposed} spellCheck={false} onChange={(event) => setName(event.target.value)} />
      </label>
      <label>
        <input type="checkbox" checked={unique} onChange={(event) => setUnique(event.target.checked)} /> Unique: no two documents have the same values
      </label>
      {error && <div><Failure error={error} /></div>}
      <div className="buttons">
        <button type="submit" className="primary" disabled={on.length === 0}>Create</button>
        <button type="button" onClick={() => setPaths([...paths, ''])}>Add a path</button>
        <button type="button" onClick={onCancel}>Cancel</button>
      </div>
    </form>
  );
}
