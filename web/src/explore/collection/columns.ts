// The columns that a table begins with, from a sample of its documents.
import type { JsonKind, SampleQuery } from '../../api/generated';
import { pointerOf, type Path } from '../place';

/** As many as the operation `Rows` has. */
export const COLUMNS_MAX = 8;

/** As many as are chosen to begin with. */
const COLUMNS_FIRST = 5;

export interface SampledPath {
  path: Path;
  kinds: JsonKind[];
  /** In how many documents of the sample. */
  count: number;
  /** The number of steps. */
  depth: number;
}

/** The paths of the sample, the most frequent first; the order of the first document among equals. */
export function sampledPaths(sample: SampleQuery): SampledPath[] {
  const found = new Map<string, SampledPath>();
  for (const { kind, children } of sample.documents.nodes) {
    if (kind !== 'OBJECT') continue;
    for (const child of children.nodes) {
      add(found, child);
      if (child.kind === 'OBJECT') child.children.nodes.forEach((grandchild) => add(found, grandchild));
    }
  }
  return [...found.values()].sort((one, other) => other.count - one.count);
}

function add(found: Map<string, SampledPath>, { path, kind }: { path: Path; kind: JsonKind }): void {
  const text = pointerOf(path);
  const seen = found.get(text) ?? { path, kinds: [], count: 0, depth: path.length };
  found.set(text, {
    ...seen,
    kinds: seen.kinds.includes(kind) ? seen.kinds : [...seen.kinds, kind],
    count: seen.count + 1,
  });
}

/** Scalars at the top first: they say most in the least space. */
export function firstColumns(paths: readonly SampledPath[]): Path[] {
  const scalar = ({ kinds }: SampledPath) => kinds.length > 0 && !kinds.includes('OBJECT') && !kinds.includes('ARRAY');
  const top = paths.filter((path) => path.depth === 1 && scalar(path));
  const nested = paths.filter((path) => path.depth === 2 && scalar(path));
  const other = paths.filter((path) => path.depth === 1 && !scalar(path));
  const named = (path: SampledPath) => (/name|title/i.test(String(path.path.at(-1))) ? 0 : 1);
  const best = [...top, ...nested].sort((one, other) => named(one) - named(other));
  return [...best, ...other].slice(0, COLUMNS_FIRST).map(({ path }) => path);
}
