import { useRef, useState } from 'react';
import { DropTypeDocument, SetTypeDocument } from '../../api/generated';
import { indented, RawJson } from '../../api/json';
import { request } from '../../api/request';
import { noteTypeChange } from '../../api/types';
import { Failure } from '../Failure';
import type { ListedCollection } from '../readCollections';
import { useProgress } from '../useProgress';
import { TypeEditor } from './TypeEditor';
import type { LoadedType } from './useCollectionType';
import { StoredViolations } from './ViolationList';

interface Props {
  collection: string;
  /** The state of the type, as the list of collections has it. */
  listed: ListedCollection['type'];
  loaded: LoadedType;
  editable: boolean;
  /** A type for what is stored, to begin with. */
  propose: () => string;
  /** Whether `propose` has the documents already. */
  sampled: boolean;
  /** Reads the list of collections again. */
  onChanged: () => void;
}

type Open = 'definition' | 'editor' | 'drop';

/** The type of a collection: its state, its definition, and how it is set and dropped. */
export function TypePanel({ collection, listed, loaded, editable, propose, sampled, onChanged }: Props) {
  const { type, error, reload } = loaded;
  const [open, setOpen] = useState<Open>();
  const [failure, setFailure] = useState<Error>();
  useProgress(listed?.state === 'CHECKING', listed, onChanged);
  const panel = useRef<HTMLElement>(null);
  // What had the focus is gone.
  const close = () => {
    setOpen(undefined);
    panel.current?.focus();
  };
  const done = () => {
    close();
    setFailure(undefined);
    noteTypeChange();
    onChanged();
    reload();
  };
  const toggle = (what: Open) => setOpen(open === undefined ? what : undefined);
  const checkAgain = () => type && request(SetTypeDocument, { collection, schema: new RawJson(type.text) }).then(done, setFailure);
  const drop = () => request(DropTypeDocument, { collection }).then(done, setFailure);
  if (!listed && !editable) return null;
  return (
    <section className="type" aria-label="Type" ref={panel} tabIndex={-1}>
      <div className="buttons">
        {listed ? (
          <>
            <span>Type {type?.schema?.title && <strong>{type.schema.title}</strong>}</span>
            <TypeState type={listed} />
            <button type="button" aria-expanded={open !== undefined} onClick={() => toggle('definition')}>Definition</button>
          </>
        ) : (
          <span className="about">No type</span>
        )}
        {editable && !listed && (
          <button type="button" disabled={!sampled} aria-expanded={open === 'editor'} onClick={() => toggle('editor')}>Set a type</button>
        )}
        {editable && listed?.state === 'FAILED' && <button type="button" onClick={() => void checkAgain()}>Check again</button>}
      </div>
      {error && <div><Failure error={error} onRetry={reload} /></div>}
      {failure && <div><Failure error={failure} /></div>}
      {type && type.violations.length > 0 && <StoredViolations collection={collection} of={type.violations} />}
      {(open === 'definition' || open === 'drop') && type && (
        <>
          {editable && (
            <div className="buttons">
              <button type="button" onClick={() => setOpen('editor')}>Change the type</button>
              {open === 'definition' && <button type="button" onClick={() => setOpen('drop')}>Drop the type</button>}
              {open === 'drop' && (
                <>
                  <button type="button" className="primary" autoFocus onClick={() => void drop()}>Drop it and keep the documents</button>
                  <button type="button" onClick={() => setOpen('definition')}>Keep it</button>
                </>
              )}
            </div>
          )}
          <pre tabIndex={0} aria-label="Definition of the type">{indented(type.text)}</pre>
        </>
      )}
      {open === 'editor' && (
        <TypeEditor
          collection={collection}
          initial={type ? indented(type.text) : propose()}
          proposed={!type}
          onDone={done}
          onCancel={close}
        />
      )}
    </section>
  );
}

/** Whether the stored documents fit. */
function TypeState({ type: { state, checked } }: { type: NonNullable<Props['listed']> }) {
  return (
    <span className={`badge state-${state.toLowerCase()}`} role="status">
      {state === 'ENFORCED' && 'All documents fit'}
      {state === 'CHECKING' && `Checking: ${(checked ?? 0).toLocaleString('en')} documents read`}
      {state === 'FAILED' && 'Some documents do not fit'}
    </span>
  );
}
