import { useState } from 'react';
import { CopyMenu } from './CopyMenu';
import { AddForm } from './AddForm';
import { LongString } from './LongString';
import { RemoveForm } from './RemoveForm';
import { StartAt } from './StartAt';
import { ValueForm } from './ValueForm';
import { hrefOf } from '../../route';
import { shownName } from '../place';
import { keyOfValue } from '../types/inputs';
import { useSchemaAt } from '../types/useCollectionType';
import { isContainer, summaryOf } from '../kinds';
import type { DocumentPlace } from './edit';
import type { Place, Row } from './tree';
import type { Edits } from './useEdits';
import type { TreeControl } from './useTree';

export type Form = 'edit' | 'add' | 'remove';

/** Levels with more children than this can begin at any of them. */
const LONG_LEVEL = 100;

interface Props {
  at: DocumentPlace;
  row: Row & { type: 'place' };
  control: TreeControl;
  edits: Edits;
  editable: boolean;
  active: boolean;
  form: Form | undefined;
  onForm: (form: Form | undefined) => void;
}

/** A place of the document: a value, or an object or array that can be opened. */
export function PlaceRow({ at, row, control, edits, editable, active, form, onForm }: Props) {
  const { place, open } = row;
  const level = open ? control.tree.levels.get(row.pointer) : undefined;
  const tabIndex = active ? 0 : -1;
  const last = place.path.at(-1);
  const name = last === undefined ? '$' : shownName(last);
  const inArray = typeof last === 'number';
  const done = () => onForm(undefined);
  const schema = useSchemaAt(place.path);
  return (
    <>
      <div role="gridcell" className={place.changes ? `place ${place.changes % 2 ? 'changed' : 'changed-again'}` : 'place'}>
        {isContainer(place) ? (
          <button type="button" className="opener" tabIndex={-1} data-open={open} onClick={() => control.toggle(place)}>
            <bdi className="name" title={schema?.description}>{name}</bdi> <i>{summaryOf(place)}</i>
          </button>
        ) : (
          <span className="leaf">
            <bdi className="name" title={schema?.description}>{name}</bdi> <Leaf at={at} place={place} tabIndex={tabIndex} />
            {schema?.reference && <Follow collection={schema.reference.collection} value={place.text} tabIndex={tabIndex} />}
          </span>
        )}
        {open && (place.length ?? 0) > LONG_LEVEL && (
          <StartAt place={place} from={level?.from} tabIndex={tabIndex} onStart={(from) => control.startAt(place, from)} />
        )}
      </div>
      <div role="gridcell" className="actions">
        {editable && (
          <>
            <button type="button" tabIndex={tabIndex} onClick={() => onForm('edit')} aria-label={`Edit ${name}`}>Edit</button>
            {isContainer(place) && (
              <button type="button" tabIndex={tabIndex} onClick={() => onForm('add')} aria-label={`Add to ${name}`}>Add</button>
            )}
            <button type="button" tabIndex={tabIndex} onClick={() => onForm('remove')} aria-label={`Remove ${name}`}>Remove</button>
          </>
        )}
        <CopyMenu at={at} path={place.path} tabIndex={tabIndex} />
      </div>
      {form === 'edit' && <ValueForm at={at} place={place} edits={edits} onDone={done} />}
      {form === 'add' && <AddForm place={place} edits={edits} onDone={done} />}
      {form === 'remove' && <RemoveForm at={at} place={place} inArray={inArray} edits={edits} onDone={done} />}
    </>
  );
}

/** A long string is read when it is asked for. */
function Leaf({ at, place, tabIndex }: { at: DocumentPlace; place: Place; tabIndex: number }) {
  const [asked, setAsked] = useState(false);
  if (place.text !== undefined) return <code className={place.kind.toLowerCase()}>{place.text}</code>;
  return (
    <>
      <i>{summaryOf(place)}</i>{' '}
      <button type="button" tabIndex={tabIndex} aria-expanded={asked} onClick={() => setAsked(!asked)}>
        {asked ? 'Hide' : 'Show'}
      </button>
      {asked && <LongString at={at} place={place} />}
    </>
  );
}

/** Opens the document of which the value is the key. */
function Follow({ collection, value, tabIndex }: { collection: string; value: string | undefined; tabIndex: number }) {
  const key = value === undefined ? undefined : keyOfValue(value);
  if (key === undefined) return null;
  return (
    <a className="follow" href={hrefOf('c', collection, key)} tabIndex={tabIndex}>
      {shownName(key)} in {shownName(collection)}
    </a>
  );
}
