// The queries of the tabs on a first visit: made from the collection of the store with most documents.
import { CollectionsDocument, SampleDocument } from '../api/generated';
import { request } from '../api/request';
import { examplesOf } from './ownExamples';
import { EXAMPLES_WITHOUT_DATA, SAMPLE_EXAMPLES, type Example } from './sampleExamples';

/** What a new tab holds. */
export const EMPTY_TAB = `\
# Ctrl-Enter runs the query, Ctrl-Space completes it.

`;

/** The sample data, and the collection into which the examples write. */
const SAMPLE = ['countries', 'guides'];
const WRITTEN = 'notes';

export async function readExamples(): Promise<Example[]> {
  const { collections } = await request(CollectionsDocument, {});
  const names = collections.map(({ name }) => name).filter((name) => name !== WRITTEN);
  if (names.join() === SAMPLE.join()) return SAMPLE_EXAMPLES;
  const [largest] = collections.filter(({ name }) => name !== WRITTEN).sort((one, other) => other.count - one.count);
  if (!largest || largest.count === 0) return EXAMPLES_WITHOUT_DATA;
  return examplesOf(largest.name, await request(SampleDocument, { collection: largest.name }));
}
