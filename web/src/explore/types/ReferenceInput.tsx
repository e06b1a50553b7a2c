import { useId, type ComponentProps } from 'react';
import { useLoaded } from '../../api/useLoaded';
import { shownName } from '../place';
import { useDebounced } from '../useDebounced';
import { findReferenced, namePath, type Referenced } from './findReferenced';

/** The key of a document of another collection: found by the beginning of its key, or by a part of its name. */
export function ReferenceInput({ collection, value, ...input }: { collection: string; value: string } & Omit<ComponentProps<'input'>, 'value'>) {
  const typed = useDebounced(value);
  const listId = useId();
  const named = useLoaded(collection, async (signal) => ({ path: await namePath(collection, signal) }));
  const path = named.data?.path;
  const { data, error = named.error } = useLoaded(JSON.stringify([collection, typed, named.data]), async (signal) =>
    named.data ? findReferenced(collection, path, typed, signal) : undefined,
  );
  return (
    <span className="reference">
      <input list={listId} autoComplete="off" spellCheck={false} placeholder="Key or name" value={value} {...input} />
      <datalist id={listId}>
        {data?.map(({ key, name }) => <option key={key} value={key}>{name}</option>)}
      </datalist>
      <span role="status" className="about">
        {data && typed !== '' && said(collection, typed, data)}
        {error && `The documents of ${shownName(collection)} could not be read.`}
      </span>
    </span>
  );
}

function said(collection: string, typed: string, found: readonly Referenced[]): string {
  const exact = found.find(({ key }) => key === typed);
  if (exact) return exact.name;
  const [first] = found;
  if (!first) return `No document of ${shownName(collection)} has this key or name.`;
  return `${found.length} found, such as ${shownName(first.key)}${first.name && ` (${shownName(first.name)})`}`;
}
