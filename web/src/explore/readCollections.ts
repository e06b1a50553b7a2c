import { CollectionsDocument, type CollectionsQuery } from '../api/generated';
import { requestText } from '../api/request';

type Read = CollectionsQuery['collections'][number];
type ReadIndex = Read['indexes'][number];

/** An index; the filter of a partial one is JSON text, so that its numbers keep their digits. */
export type ListedIndex = Omit<ReadIndex, 'where'> & { where: string | null };

export type ListedCollection = Omit<Read, 'indexes'> & { indexes: readonly ListedIndex[] };

/** All collections that may be listed. */
export async function readCollections(signal: AbortSignal): Promise<readonly ListedCollection[]> {
  const { data, json } = await requestText(CollectionsDocument, {}, { signal });
  return data.collections.map((one, at) => {
    const whereOf = (number: number) => json.at(['data', 'collections', at, 'indexes', number, 'where']) ?? null;
    const indexes = one.indexes.map((index, number) => ({ ...index, where: index.where == null ? null : whereOf(number) }));
    return { ...one, indexes };
  });
}
