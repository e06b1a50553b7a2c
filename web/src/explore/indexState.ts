import type { ListedIndex } from './readCollections';

/** The state of an index, with how far its build is in a collection of `count` documents, if both are known. */
export function indexState({ state, indexed, error }: Pick<ListedIndex, 'state' | 'indexed' | 'error'>, count: number | null): string {
  if (state === 'BUILDING' && indexed !== null && count !== null) {
    // The build has also processed documents that were deleted since.
    return `building: ${amount(Math.min(indexed, count))} of ${amount(count)} documents`;
  }
  return state.toLowerCase() + (error ? `: ${error}` : '');
}

const amount = (value: number) => value.toLocaleString('en');
