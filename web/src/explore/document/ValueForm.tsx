import { useEffect, useState } from 'react';
import { indented } from '../../api/json';
import { Failure } from '../Failure';
import { pointerOf } from '../place';
import { readCurrent } from './applyEdit';
import type { DocumentPlace } from './edit';
import type { Place } from './tree';
import type { Edits } from './useEdits';
import { useSchemaAt } from '../types/useCollectionType';
import { ValueFields } from './ValueFields';

interface Props {
  at: DocumentPlace;
  place: Place;
  edits: Edits;
  onDone: () => void;
}

/** Replaces a value. What is not shown whole is read first. */
export function ValueForm({ at, place, edits, onDone }: Props) {
  const [read, setRead] = useState(place.text === undefined ? undefined : { text: place.text, version: place.version });
  const [error, setError] = useState<Error>();
  useEffect(() => {
    if (read) return;
    readCurrent(at, place.path, true).then(
      ({ place, text }) => setRead({ text: text ?? 'null', version: place?.version ?? null }),
      setError,
    );
  }, []);
  const schema = useSchemaAt(place.path);
  const label = `New value of ${pointerOf(place.path) || 'the document'}`;
  return (
    <div role="gridcell" className="form">
      {error && <><Failure error={error} /> <button type="button" onClick={onDone}>Close</button></>}
      {!error && !read && <i>Loading …</i>}
      {read && (
        <ValueFields
          label={label}
          pointer={pointerOf(place.path)}
          schema={schema}
          initial={indented(read.text)}
          violations={edits.violations}
          submit="Store"
          onCancel={onDone}
          onSubmit={async (text) => {
            const edit = { kind: 'replace' as const, path: place.path, text, before: read.text };
            if (await edits.apply(edit, read.version)) onDone();
          }}
        />
      )}
    </div>
  );
}
