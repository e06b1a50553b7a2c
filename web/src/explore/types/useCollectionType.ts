// The type of the collection that is shown. It is read once for all of its documents.
import { createContext, useContext, useMemo } from 'react';
import { CollectionTypeDocument, type CollectionTypeQuery } from '../../api/generated';
import { requestText } from '../../api/request';
import { useLoaded } from '../../api/useLoaded';
import type { Path } from '../place';
import type { ListedCollection } from '../readCollections';
import { Schema } from './schema';

type Stored = NonNullable<CollectionTypeQuery['collections'][number]['type']>;

export interface CollectionType extends Pick<Stored, 'state' | 'violations'> {
  /** The JSON Schema as it was set. */
  text: string;
  schema: Schema | undefined;
}

export interface LoadedType {
  /** Undefined if the collection has none. */
  type: CollectionType | undefined;
  /** Whether it is known. */
  loaded: boolean;
  error: Error | undefined;
  reload: () => void;
}

/** Only collections that the list shows with a type are asked for it. */
export function useCollectionType(listed: ListedCollection | undefined): LoadedType {
  const { name = '', type } = listed ?? {};
  const typed = type != null;
  const { data, error, reload } = useLoaded(JSON.stringify([name, type?.state]), async (signal) => ({
    name,
    type: typed ? await readType(name, signal) : undefined,
  }));
  const mine = data?.name === name ? data : undefined;
  return useMemo(
    () => ({ type: mine?.type, loaded: mine !== undefined || error !== undefined, error, reload }),
    [mine, error, reload],
  );
}

async function readType(name: string, signal: AbortSignal): Promise<CollectionType | undefined> {
  const { data, json } = await requestText(CollectionTypeDocument, { name }, { signal });
  const type = data.collections[0]?.type;
  const text = json.at(['data', 'collections', 0, 'type', 'schema']);
  if (!type || text === undefined) return undefined;
  return { text, state: type.state, violations: type.violations, schema: Schema.parse(text) };
}

/** The schema of the documents that are shown. */
export const DocumentSchema = createContext<Schema | undefined>(undefined);

/** What the type says about a place of the document. */
export function useSchemaAt(path: Path): Schema | undefined {
  const schema = useContext(DocumentSchema);
  return useMemo(() => schema?.at(path), [schema, path]);
}
