// What is shown for values that are not read.
import type { PlaceFragment } from '../api/generated';

type Kinded = Pick<PlaceFragment, 'kind' | 'length'>;

export const isContainer = ({ kind }: Pick<PlaceFragment, 'kind'>) => kind === 'OBJECT' || kind === 'ARRAY';

export function summaryOf({ kind, length }: Kinded): string {
  const count = (length ?? 0).toLocaleString('en');
  if (kind === 'OBJECT') return `{ ${count} ${length === 1 ? 'member' : 'members'} }`;
  if (kind === 'ARRAY') return `[ ${count} ${length === 1 ? 'element' : 'elements'} ]`;
  return kind === 'STRING' ? `string of ${count} characters` : '';
}
