import { useEffect } from 'react';
import { Failure } from '../Failure';
import { pointerOf } from '../place';
import { summaryOf } from '../kinds';
import type { Current, Edit, Mismatch } from './edit';
import type { Edits } from './useEdits';

/** What became of the last edit, and how to undo it. */
export function EditNotice({ edits }: { edits: Edits }) {
  const { busy, done, error, mismatch, undo, dismiss } = edits;
  const undoable = done?.undoable === true && !busy;
  useEffect(() => {
    if (!undoable) return;
    const onKey = (event: KeyboardEvent) => {
      const typing = event.target instanceof Element && event.target.closest('input, textarea, select');
      if (!typing && (event.ctrlKey || event.metaKey) && !event.shiftKey && event.key === 'z') undo();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [undoable, undo]);
  return (
    <footer className="edit-notice">
      {mismatch && <MismatchNotice edits={edits} mismatch={mismatch} />}
      {error && <div className="failed"><Failure error={error} /> <button type="button" onClick={dismiss}>Dismiss</button></div>}
      <span role="status">{busy ? 'Storing …' : done?.said}</span>
      {undoable && <button type="button" onClick={undo}>Undo</button>}
    </footer>
  );
}

/** Both values of a place that somebody else has changed. */
function MismatchNotice({ edits, mismatch: { edit, current } }: { edits: Edits; mismatch: Mismatch }) {
  const overwrite = overwriting(edit, current);
  return (
    <div className="mismatch" role="alert">
      <p><strong>{pointerOf(edit.path) || 'The document'}</strong> has changed since it was shown. Nothing was stored.</p>
      <dl>
        <dt>Your edit</dt>
        <dd><code>{edit.kind === 'remove' ? 'removed' : cut(edit.text)}</code></dd>
        <dt>Stored now</dt>
        <dd><code>{said(current)}</code></dd>
      </dl>
      {overwrite && (
        <button type="button" onClick={() => void edits.apply(overwrite, current.place?.version ?? null, false)}>
          Store mine
        </button>
      )}
      <button type="button" onClick={edits.dismiss}>Keep the stored value</button>
    </div>
  );
}

const LONGEST = 300;
const cut = (text: string) => (text.length > LONGEST ? `${text.slice(0, LONGEST)} …` : text);

function said({ place, text }: Current): string {
  if (place === null) return 'nothing';
  return text === undefined ? summaryOf(place) : cut(text);
}

/** The edit on what is stored now; undefined if it has no place any more. */
function overwriting(edit: Edit, { place, text }: Current): Edit | undefined {
  if (edit.kind === 'add') return { ...edit, kind: 'replace', before: text };
  if (edit.kind === 'insert') return edit;
  return place === null ? undefined : { ...edit, before: text };
}
