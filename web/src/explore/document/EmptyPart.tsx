import { useState } from 'react';
import { pointerOf, type PathInput } from '../place';
import type { Edits } from './useEdits';
import { ValueFields } from './ValueFields';

interface Props {
  path: PathInput;
  edits: Edits;
  editable: boolean;
}

/** A part where nothing is stored. A pointer with digits does not say which member or element to create. */
export function EmptyPart({ path, edits, editable }: Props) {
  const [storing, setStoring] = useState(false);
  return (
    <div className="empty-part">
      <p className="about">Nothing is stored at this path.</p>
      {editable && typeof path !== 'string' && !storing && (
        <button type="button" onClick={() => setStoring(true)}>Store a value</button>
      )}
      {typeof path !== 'string' && storing && (
        <div className="form">
          <ValueFields
            label={`New value of ${pointerOf(path)}`}
            initial={'""'}
            submit="Store"
            busy={edits.busy}
            onCancel={() => setStoring(false)}
            onSubmit={(text) => void edits.apply({ kind: 'add', path, text }, null).then((served) => served && setStoring(false))}
          />
        </div>
      )}
    </div>
  );
}
