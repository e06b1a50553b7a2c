import { useId, useState } from 'react';
import { SetTypeDocument, type SetTypeMutation } from '../../api/generated';
import { jsonMistake, RawJson } from '../../api/json';
import { request } from '../../api/request';
import { Failure } from '../Failure';
import { StoredViolations } from './ViolationList';

interface Props {
  collection: string;
  /** The JSON Schema to begin with. */
  initial: string;
  /** Whether it is made from documents. */
  proposed: boolean;
  onDone: () => void;
  onCancel: () => void;
}

type Tried = SetTypeMutation['setCollectionType'];

/** Edits the JSON Schema of a collection. It can be tried on the stored documents before it is set. */
export function TypeEditor({ collection, initial, proposed, onDone, onCancel }: Props) {
  const [text, setText] = useState(initial);
  const [busy, setBusy] = useState(false);
  const [tried, setTried] = useState<Tried>();
  const [error, setError] = useState<Error>();
  const mistakeId = useId();
  const mistake = jsonMistake(text);
  const send = async (dryRun: boolean) => {
    setBusy(true);
    setError(undefined);
    setTried(undefined);
    try {
      const { setCollectionType } = await request(SetTypeDocument, { collection, schema: new RawJson(text), dryRun });
      if (dryRun) setTried(setCollectionType);
      else onDone();
    } catch (error) {
      setError(error as Error);
    }
    setBusy(false);
  };
  return (
    <form
      className="form type-editor"
      aria-label="Set the type"
      onKeyDown={(event) => event.key === 'Escape' && onCancel()}
      onSubmit={(event) => (event.preventDefault(), void send(false))}
    >
      {proposed && (
        <p className="about">
          This is proposed from the first documents. <code>phyllo types infer</code> proposes a type from all of them.
        </p>
      )}
      <textarea
        aria-label="JSON Schema"
        aria-invalid={mistake !== undefined || error !== undefined}
        aria-describedby={mistakeId}
        autoFocus
        spellCheck={false}
        rows={16}
        value={text}
        onChange={(event) => (setText(event.target.value), setTried(undefined), setError(undefined))}
      />
      <p id={mistakeId} className="mistake" role="status">{mistake}</p>
      {error && <div><Failure error={error} /></div>}
      {tried && <TriedType collection={collection} tried={tried} />}
      <div className="buttons">
        <button type="submit" className="primary" disabled={busy || mistake !== undefined}>Set the type</button>
        <button type="button" disabled={busy || mistake !== undefined} onClick={() => void send(true)}>Try it</button>
        <button type="button" onClick={onCancel}>Cancel</button>
      </div>
    </form>
  );
}

/** What the type would mean for the stored documents. */
function TriedType({ collection, tried: { effect, examined, complete, violations } }: { collection: string; tried: Tried }) {
  const count = (examined ?? 0).toLocaleString('en');
  return (
    <div role="status">
      {effect === 'UNCHANGED' && 'The collection has this type.'}
      {effect === 'COMPATIBLE' && 'All stored documents certainly fit.'}
      {effect === 'NEEDS_CHECK' && violations.length === 0 && `${complete ? 'All' : 'The first'} ${count} documents fit.${complete ? '' : ' The others were not read.'}`}
      {violations.length > 0 && `${violations.length} places in the first ${count} documents do not fit. Writes would be validated all the same.`}
      <StoredViolations collection={collection} of={violations} />
    </div>
  );
}
