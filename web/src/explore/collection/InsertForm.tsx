import { useMemo, useState } from 'react';
import { InsertDocument } from '../../api/generated';
import { RawJson } from '../../api/json';
import { request, RequestError } from '../../api/request';
import { hrefOf } from '../../route';
import { ValueFields } from '../document/ValueFields';
import { Failure } from '../Failure';
import type { Draft } from '../types/inputs';
import { documentOf, fieldsOf, isComplete, membersOf, type Drafts } from '../types/newDocument';
import { NewDocumentFields } from '../types/NewDocumentFields';
import type { Schema } from '../types/schema';
import { Violations } from '../types/ViolationList';
import { violationsElsewhere } from '../types/violations';

interface Props {
  collection: string;
  schema: Schema | undefined;
  onDone: () => void;
}

/** Stores a new document and opens it. */
export function InsertForm({ collection, schema, onDone }: Props) {
  const [key, setKey] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<Error>();
  const members = useMemo(() => (schema ? membersOf(schema) : []), [schema]);
  const [asJson, setAsJson] = useState(false);
  const [drafts, setDrafts] = useState<Drafts>(new Map<string, Draft>());
  const typed = members.length > 0 && !asJson;
  const insert = async (text: string) => {
    setBusy(true);
    setError(undefined);
    const variables = { collection, id: key === '' ? null : key, document: new RawJson(text) };
    try {
      const { insertDocument } = await request(InsertDocument, variables);
      location.hash = hrefOf('c', collection, insertDocument.key);
    } catch (error) {
      setError(error as Error);
      setBusy(false);
    }
  };
  const violations = error instanceof RequestError ? error.violations : [];
  const keyField = (
    <label className="name-field">
      Key{' '}
      <input autoFocus value={key} placeholder="random" spellCheck={false} onChange={(event) => setKey(event.target.value)} />
    </label>
  );
  const complete = isComplete(members, drafts);
  return (
    <div className="form insert">
      {error && violations.length === 0 && <Failure error={error} />}
      {members.length > 0 && (
        <label><input type="checkbox" checked={asJson} onChange={(event) => setAsJson(event.target.checked)} /> The document as JSON</label>
      )}
      {typed ? (
        <form
          noValidate
          aria-label="New document"
          onSubmit={(event) => (event.preventDefault(), complete && !busy && void insert(documentOf(members, drafts)))}
        >
          {keyField}
          <div className="members">
            <NewDocumentFields
              members={members}
              drafts={drafts}
              onDraft={(pointer, draft) => setDrafts((old) => new Map(old).set(pointer, draft))}
              violations={violations}
            />
          </div>
          <Violations of={violationsElsewhere(violations, fieldsOf(members))} at="" />
          <div className="buttons">
            <button type="submit" className="primary" disabled={busy || !complete}>Insert</button>
            <button type="button" onClick={onDone}>Cancel</button>
          </div>
        </form>
      ) : (
        <ValueFields
          label="New document"
          pointer=""
          schema={schema}
          initial={members.length > 0 ? documentOf(members, drafts) : '{}'}
          submit="Insert"
          violations={violations}
          onCancel={onDone}
          onSubmit={insert}
        >
          {keyField}
        </ValueFields>
      )}
    </div>
  );
}
