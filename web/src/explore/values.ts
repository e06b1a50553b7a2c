// The values of places that are short enough to be shown whole.
import { ValuesDocument, type PlaceFragment } from '../api/generated';
import { formatJson } from '../api/json';
import { request } from '../api/request';

/** Characters of the longest string that is read without being asked for. */
const LONGEST_SHOWN = 500;

/** JSON text by id of place. */
export type Values = ReadonlyMap<string, string>;

export const isContainer = ({ kind }: PlaceFragment) => kind === 'OBJECT' || kind === 'ARRAY';

const isShort = (place: PlaceFragment) =>
  !isContainer(place) && (place.kind !== 'STRING' || (place.length ?? 0) <= LONGEST_SHOWN);

export function readShort(places: readonly PlaceFragment[], signal?: AbortSignal): Promise<Values> {
  return readValues(places.filter(isShort).map(({ id }) => id), signal);
}

export async function readValues(ids: readonly string[], signal?: AbortSignal): Promise<Values> {
  if (ids.length === 0) return new Map();
  const { nodes } = await request(ValuesDocument, { ids: [...ids] }, signal);
  return new Map(nodes.flatMap((node) => (node && 'id' in node ? [[node.id, formatJson(node.value)]] : [])));
}

/** What stands for a value that is not read. */
export function summaryOf({ kind, length }: PlaceFragment): string {
  const count = (length ?? 0).toLocaleString('en');
  if (kind === 'OBJECT') return `{ ${count} ${length === 1 ? 'member' : 'members'} }`;
  if (kind === 'ARRAY') return `[ ${count} ${length === 1 ? 'element' : 'elements'} ]`;
  return kind === 'STRING' ? `string of ${count} characters` : '';
}
