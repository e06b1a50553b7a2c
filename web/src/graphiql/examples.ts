// The queries of the tabs on a first visit: made from the types of collections, and from the collection with most documents.
import { CollectionsDocument, SampleDocument, type CollectionsQuery } from '../api/generated';
import { request } from '../api/request';
import { examplesOf } from './ownExamples';
import { readTypedExamples } from './readTypedExamples';
import { EXAMPLES_WITHOUT_DATA, SAMPLE_EXAMPLES, type Example } from './sampleExamples';

/** What a new tab holds. */
export const EMPTY_TAB = `\
# Ctrl-Enter runs the query, Ctrl-Space completes it.

`;

/** The sample data, and the collection into which the examples write. */
const SAMPLE = ['countries', 'guides'];
const WRITTEN = 'notes';

export interface Examples {
  tabs: Example[];
  /** Whether the store has no collections. */
  empty: boolean;
}

export async function readExamples(): Promise<Examples> {
  const { collections } = await request(CollectionsDocument, {});
  return { tabs: await examplesFor(collections), empty: collections.length === 0 };
}

async function examplesFor(collections: CollectionsQuery['collections']): Promise<Example[]> {
  const names = collections.map(({ name }) => name).filter((name) => name !== WRITTEN);
  const typed = await readTypedExamples(new Map(collections.map(({ name, count }) => [name, count])));
  if (names.join() === SAMPLE.join()) return [...typed, ...SAMPLE_EXAMPLES];
  const [largest] = collections.filter(({ name }) => name !== WRITTEN).sort((one, other) => other.count - one.count);
  if (!largest || largest.count === 0) return EXAMPLES_WITHOUT_DATA;
  return [...typed, ...examplesOf(largest.name, await request(SampleDocument, { collection: largest.name }))];
}
