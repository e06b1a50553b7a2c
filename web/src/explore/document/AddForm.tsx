import { useId, useMemo, useState } from 'react';
import { pointerOf } from '../place';
import type { Edit } from './edit';
import type { Place } from './tree';
import type { Edits } from './useEdits';
import { useSchemaAt } from '../types/useCollectionType';
import { ValueFields } from './ValueFields';

/** Adds a member to an object or an element to an array. */
export function AddForm({ place, edits, onDone }: { place: Place; edits: Edits; onDone: () => void }) {
  const length = place.length ?? 0;
  const array = place.kind === 'ARRAY';
  const [name, setName] = useState(array ? String(length) : '');
  const path = useMemo(() => [...place.path, array ? Number(name) : name], [place, array, name]);
  const [parent, schema] = [useSchemaAt(place.path), useSchemaAt(path)];
  const offered = useMemo(() => (array ? [] : (parent?.properties ?? []).map(([name]) => name)), [array, parent]);
  const listId = useId();
  const edit = (text: string): Edit =>
    array
      ? { kind: 'insert', path: place.path, index: Math.min(Number(name), length), text, length }
      : { kind: 'add', path: [...place.path, name], text };
  return (
    <div role="gridcell" className="form">
      <ValueFields
        label={`New ${array ? 'element' : 'member'} of ${pointerOf(place.path) || 'the document'}`}
        pointer={pointerOf(path)}
        schema={schema}
        initial={undefined}
        violations={edits.violations}
        submit="Add"
        onCancel={onDone}
        onSubmit={async (text) => {
          if (await edits.apply(edit(text), place.version)) onDone();
        }}
      >
        <label className="name-field">
          {array ? 'Index' : 'Name'}{' '}
          <input
            autoFocus
            value={name}
            type={array ? 'number' : 'text'}
            min={0}
            max={length}
            list={offered.length > 0 ? listId : undefined}
            spellCheck={false}
            onChange={(event) => setName(event.target.value)}
            onKeyDown={(event) => event.key === 'Escape' && onDone()}
          />
        </label>
        {offered.length > 0 && <datalist id={listId}>{offered.map((name) => <option key={name} value={name} />)}</datalist>}
      </ValueFields>
    </div>
  );
}
