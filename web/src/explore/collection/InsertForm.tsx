import { useState } from 'react';
import { InsertDocument } from '../../api/generated';
import { RawJson } from '../../api/json';
import { request } from '../../api/request';
import { hrefOf } from '../../route';
import { ValueFields } from '../document/ValueFields';
import { Failure } from '../Failure';

/** Stores a new document and opens it. */
export function InsertForm({ collection, onDone }: { collection: string; onDone: () => void }) {
  const [key, setKey] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<Error>();
  const insert = (text: string) => {
    setBusy(true);
    const variables = { collection, id: key === '' ? null : key, document: new RawJson(text) };
    request(InsertDocument, variables).then(
      ({ insertDocument }) => (location.hash = hrefOf('c', collection, insertDocument.key)),
      (error: Error) => (setError(error), setBusy(false)),
    );
  };
  return (
    <div className="form">
      {error && <Failure error={error} />}
      <ValueFields label="New document" initial="{}" submit="Insert" busy={busy} onCancel={onDone} onSubmit={insert}>
        <label className="name-field">
          Key{' '}
          <input autoFocus value={key} placeholder="random" spellCheck={false} onChange={(event) => setKey(event.target.value)} />
        </label>
      </ValueFields>
    </div>
  );
}
