import { useState } from 'react';
import { SelectDocument } from '../../api/generated';
import { request, ResponseTooLarge } from '../../api/request';
import { useDebounced } from '../useDebounced';
import { useLoaded } from '../../api/useLoaded';
import { Failure } from '../Failure';
import { hrefOfPlace, jsonPathOf, type PathInput } from '../place';
import { isContainer, summaryOf } from '../kinds';
import { readShort } from '../values';
import type { DocumentPlace } from './edit';

/** Rows that are shown, and bytes that are read, of what a JSONPath selects. */
const SHOWN = 200;
const BYTES_MAX = 2 ** 20;

/** What a JSONPath selects in the part of the document that is shown, tried as it is typed. */
export function PathSearch({ at, path }: { at: DocumentPlace; path: PathInput }) {
  const [typed, setTyped] = useState('$');
  const query = useDebounced(typed);
  const { data, error } = useLoaded(query, async (signal) => {
    if (query === '') return undefined;
    const { document } = await request(SelectDocument, { ...at, path, query }, { signal, maxBytes: BYTES_MAX });
    const places = document?.select ?? [];
    return { count: places.length, places: places.slice(0, SHOWN), values: await readShort(places.slice(0, SHOWN), signal) };
  });
  return (
    <div className="path-search">
      <label>
        JSONPath{' '}
        <input
          autoFocus
          value={typed}
          spellCheck={false}
          aria-invalid={error !== undefined}
          onChange={(event) => setTyped(event.target.value)}
        />
      </label>
      {error && <div>{error instanceof ResponseTooLarge ? <TooMany /> : <Failure error={error} />}</div>}
      {data && !error && (
        <>
          <p role="status" className="about">
            {data.count.toLocaleString('en')} {data.count === 1 ? 'place' : 'places'}
            {data.count > SHOWN && `, the first ${SHOWN} are shown`}
          </p>
          <ul tabIndex={0} aria-label="Selected places">
            {data.places.map((place, index) => (
              <li key={index}>
                <a href={hrefOfPlace(at.collection, at.id, place.path)}><code>{jsonPathOf(place.path)}</code></a>{' '}
                {isContainer(place) ? (
                  <i>{summaryOf(place)}</i>
                ) : (
                  <code className={place.kind.toLowerCase()}>{data.values.get(place.id) ?? <i>{summaryOf(place)}</i>}</code>
                )}
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}

const TooMany = () => (
  <span className="failure" role="alert">
    This selects more than {(BYTES_MAX / 2 ** 20).toLocaleString('en')} MiB of places. A slice, such as <code>$.list[:100]</code>, selects fewer.
  </span>
);
