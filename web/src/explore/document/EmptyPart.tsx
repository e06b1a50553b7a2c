import { useState } from 'react';
import { pointerOf, type PathInput } from '../place';
import type { Edits } from './useEdits';
import { useSchemaAt } from '../types/useCollectionType';
import { ValueFields } from './ValueFields';

const NOWHERE = [''];

interface Props {
  path: PathInput;
  edits: Edits;
  editable: boolean;
}

/** A part where nothing is stored. A pointer with digits does not say which member or element to create. */
export function EmptyPart({ path, edits, editable }: Props) {
  const [storing, setStoring] = useState(false);
  const schema = useSchemaAt(typeof path === 'string' ? NOWHERE : path);
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
            pointer={pointerOf(path)}
            schema={schema}
            initial={undefined}
            violations={edits.violations}
            submit="Store"
            onCancel={() => setStoring(false)}
            onSubmit={async (text) => {
              if (await edits.apply({ kind: 'add', path, text }, null)) setStoring(false);
            }}
          />
        </div>
      )}
    </div>
  );
}
