import { useEffect, useState } from 'react';
import { LevelDocument, type PlaceFragment } from '../api/generated';
import { request } from '../api/request';
import { CopyMenu } from './CopyMenu';
import { Failure } from './Failure';
import { shownName } from './place';
import { isContainer, readShort, readValues, summaryOf, type Values } from './values';

interface Props {
  collection: string;
  id: string;
  place: PlaceFragment;
  value: string | undefined;
  opened?: boolean;
}

/** A place of the document: a value, or an object or array that can be opened. */
export function Node(props: Props) {
  const { collection, id, place, value } = props;
  const [open, setOpen] = useState(props.opened === true && isContainer(place));
  const last = place.path.at(-1);
  const name = <bdi className="name">{last === undefined ? '$' : shownName(last)}</bdi>;
  return (
    <li>
      <div className="place">
        {isContainer(place) ? (
          <button type="button" className="opener" aria-expanded={open} onClick={() => setOpen(!open)}>
            {name} <i>{summaryOf(place)}</i>
          </button>
        ) : (
          <span className="leaf">{name} <Leaf place={place} value={value} /></span>
        )}
        <CopyMenu collection={collection} id={id} path={place.path} />
      </div>
      {open && <Level collection={collection} id={id} place={place} />}
    </li>
  );
}

/** A long string is read when it is asked for. */
function Leaf({ place, value }: { place: PlaceFragment; value: string | undefined }) {
  const [read, setRead] = useState<string>();
  const [error, setError] = useState<Error>();
  const shown = value ?? read;
  if (shown !== undefined) return <code className={place.kind.toLowerCase()}>{shown}</code>;
  const show = () => readValues([place.id]).then((values) => setRead(values.get(place.id) ?? ''), setError);
  return (
    <>
      <i>{summaryOf(place)}</i> <button type="button" onClick={() => void show()}>Show</button>
      {error && <Failure error={error} />}
    </>
  );
}

interface Loaded {
  places: PlaceFragment[];
  values: Values;
  next: string | null;
}

/** The children of a place, 100 at a time. */
function Level({ collection, id, place }: Omit<Props, 'value' | 'opened'>) {
  const [loaded, setLoaded] = useState<Loaded>();
  const [error, setError] = useState<Error>();
  const [loading, setLoading] = useState(false);

  const load = async (before: Loaded | undefined, signal?: AbortSignal) => {
    setLoading(true);
    try {
      const variables = { collection, id, path: place.path, after: before?.next ?? null };
      const children = (await request(LevelDocument, variables, signal)).document?.children;
      const places = children?.nodes ?? [];
      const values = await readShort(places, signal);
      setLoaded({
        places: [...(before?.places ?? []), ...places],
        values: new Map([...(before?.values ?? []), ...values]),
        next: children?.pageInfo.hasNextPage ? children.pageInfo.endCursor : null,
      });
      setError(undefined);
    } catch (error) {
      if (!signal?.aborted) setError(error as Error);
    }
    setLoading(false);
  };
  useEffect(() => {
    const abort = new AbortController();
    void load(undefined, abort.signal);
    return () => abort.abort();
  }, []);

  return (
    <>
      {error && <Failure error={error} />}
      <ul>
        {loaded?.places.map((child) => (
          <Node key={child.id} collection={collection} id={id} place={child} value={loaded.values.get(child.id)} />
        ))}
        {loaded && loaded.next !== null && (
          <li>
            <button type="button" disabled={loading} onClick={() => void load(loaded)}>Show 100 more</button>
          </li>
        )}
      </ul>
    </>
  );
}
