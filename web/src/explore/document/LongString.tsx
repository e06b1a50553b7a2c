import { Failure } from '../Failure';
import { useLoaded } from '../../api/useLoaded';
import { pointerOf } from '../place';
import { readCurrent } from './applyEdit';
import type { DocumentPlace } from './edit';
import { textOfString } from './strings';
import type { Place } from './tree';

/** Characters of a long string that are shown before it is copied. */
const SHOWN = 100_000;

/** The text of a long string, in a field of its own that scrolls. */
export function LongString({ at, place }: { at: DocumentPlace; place: Place }) {
  const { data, error } = useLoaded(`${place.id} ${place.changes ?? 0}`, async () => {
    const { text } = await readCurrent(at, place.path, true);
    return text === undefined ? '' : textOfString(text);
  });
  if (error) return <Failure error={error} />;
  if (data === undefined) return <i>Loading …</i>;
  return (
    <span className="long">
      <textarea readOnly rows={8} aria-label={`Text of ${pointerOf(place.path)}`} value={data.slice(0, SHOWN)} />
      {data.length > SHOWN && <i>The first {SHOWN.toLocaleString('en')} characters are shown.</i>}
      <button type="button" onClick={() => void navigator.clipboard.writeText(data)}>Copy all of it</button>
    </span>
  );
}
