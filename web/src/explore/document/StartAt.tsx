import { shownName, type Segment } from '../place';
import type { Place } from './tree';

interface Props {
  place: Place;
  from: Segment | undefined;
  tabIndex: number;
  onStart: (from: Segment | undefined) => void;
}

/** Shows a long level from one of its children on. */
export function StartAt({ place, from, tabIndex, onStart }: Props) {
  const array = place.kind === 'ARRAY';
  return (
    <form
      className="start-at"
      onSubmit={(event) => {
        event.preventDefault();
        const text = String(new FormData(event.currentTarget).get('from') ?? '');
        onStart(text === '' ? undefined : array ? Number(text) : text);
      }}
    >
      <label>
        <span>From</span>{' '}
        <input
          name="from"
          tabIndex={tabIndex}
          defaultValue={from}
          inputMode={array ? 'numeric' : 'text'}
          pattern={array ? '[0-9]*' : undefined}
          placeholder={array ? 'index' : 'name'}
          aria-label={`Show from ${array ? 'index' : 'name'}`}
        />
      </label>
      {from !== undefined && (
        <button type="button" tabIndex={tabIndex} onClick={() => onStart(undefined)}>
          {`From the first instead of ${shownName(from)}`}
        </button>
      )}
    </form>
  );
}
