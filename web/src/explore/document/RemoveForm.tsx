import { useEffect, useRef, useState } from 'react';
import { Failure } from '../Failure';
import { pointerOf } from '../place';
import { Violations } from '../types/ViolationList';
import { readCurrent } from './applyEdit';
import type { Current, DocumentPlace } from './edit';
import type { Place } from './tree';
import type { Edits } from './useEdits';

interface Props {
  at: DocumentPlace;
  place: Place;
  inArray: boolean;
  edits: Edits;
  onDone: () => void;
}

/** Asks before it removes a value. What is not shown whole is read first, to be able to undo it. */
export function RemoveForm({ at, place, inArray, edits, onDone }: Props) {
  const [current, setCurrent] = useState<Current | undefined>(
    place.text === undefined ? undefined : { place, text: place.text },
  );
  const [error, setError] = useState<Error>();
  const button = useRef<HTMLButtonElement>(null);
  const [sending, setSending] = useState(false);
  useEffect(() => {
    if (!current) readCurrent(at, place.path).then(setCurrent, setError);
  }, []);
  useEffect(() => button.current?.focus(), [current, sending]);
  const remove = async () => {
    setSending(true);
    const edit = { kind: 'remove' as const, path: place.path, inArray, before: current?.text };
    if (await edits.apply(edit, current?.place?.version ?? place.version)) onDone();
    setSending(false);
  };
  return (
    <div role="gridcell" className="form" onKeyDown={(event) => event.key === 'Escape' && onDone()}>
      {error && <Failure error={error} />}
      <p>
        Remove <code>{pointerOf(place.path) || 'the whole document'}</code>?{' '}
        {current && current.text === undefined && <strong>It is too large to be undone.</strong>}
      </p>
      <Violations of={edits.violations} at="" />
      <div className="buttons">
        <button type="button" ref={button} className="primary" disabled={!current || sending} onClick={() => void remove()}>
          {current ? 'Remove' : 'Loading …'}
        </button>
        <button type="button" onClick={onDone}>Cancel</button>
      </div>
    </div>
  );
}
