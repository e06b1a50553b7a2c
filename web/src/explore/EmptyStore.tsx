import { useState, type ReactNode } from 'react';
import { InsertDocument, SetTypeDocument } from '../api/generated';
import { JsonText, RawJson } from '../api/json';
import { request, RequestError } from '../api/request';
import { useEditable } from '../api/session';
import { noteTypeChange } from '../api/types';
import { Failure } from './Failure';
import { SAMPLES } from './samples';

interface Props {
  onStored: () => void;
  onImport?: (() => void) | undefined;
  children?: ReactNode;
}

/** An empty store offers the sample data of `phyllo sample`. */
export function EmptyStore({ onStored, onImport, children }: Props) {
  const editable = useEditable();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<Error>();
  const storeAll = () => {
    setBusy(true);
    storeSamples().then(() => (noteTypeChange(), onStored()), (error: Error) => (setError(error), setBusy(false)));
  };
  return (
    <div className="notice">
      <h1>No collections</h1>
      <p>The store is empty, or the access rules of the server list no collection to you.</p>
      {editable === true && (
        <>
          <p>
            <button type="button" className="primary" disabled={busy} onClick={storeAll}>
              {busy ? 'Storing …' : 'Store the sample data'}
            </button>
          </p>
          <p>This stores some countries and one larger document, as <code>phyllo sample</code> does.</p>
          {onImport && (
            <p>
              <button type="button" onClick={onImport}>Import a file</button> stores documents of your own, as{' '}
              <code>phyllo import FILE --collection NAME</code> does. A file can be dropped on the page, too.
            </p>
          )}
        </>
      )}
      {children}
      {error && <Failure error={error} />}
    </div>
  );
}

/** Each line of a sample is a key and a document, as `phyllo export` prints them. */
async function storeSamples(): Promise<void> {
  for (const { collection, url, schema } of SAMPLES) {
    await setType(collection, schema);
    const lines = (await (await fetch(url)).text()).split('\n').filter((line) => line !== '');
    const [first, ...others] = lines.map((line) => new JsonText(line));
    // If the first one is rejected, so are the others.
    if (first) await store(collection, first);
    await Promise.all(others.map((line) => store(collection, line)));
  }
}

/** Gives a new collection its type, if the server and its access rules allow that. */
async function setType(collection: string, schema: object): Promise<void> {
  try {
    await request(SetTypeDocument, { collection, schema });
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
  }
}

/** A document that an attempt before has stored stays as it is. */
async function store(collection: string, line: JsonText): Promise<void> {
  const id = String(JSON.parse(line.at(['id']) ?? 'null'));
  const document = new RawJson(line.at(['document']) ?? 'null');
  try {
    await request(InsertDocument, { collection, id, document });
  } catch (error) {
    if (!(error instanceof RequestError && error.code === 'ALREADY_EXISTS')) throw error;
  }
}
