// The keys of imported documents, as `phyllo import` gives them.
import { JsonText } from '../../api/json';
import type { Format } from './detect';
import type { Piece } from './split';

export interface Naming {
  /** The member of each document that is its key, as the names and indexes of a JSON Pointer; null for `doc_id`. */
  member: readonly string[] | null;
  /** What generated keys begin with. */
  name: string;
}

export interface Keyed {
  /** As the argument `id` takes it. */
  key: string;
  /** Whether the key is not from the document. */
  generated: boolean;
  /** The document as JSON. */
  text: string;
}

/** Why a document has no key. */
export class NoKey extends Error {}

/** The key of a document whose text is JSON. */
export function keyed({ text, number }: Piece, format: Format, { member, name }: Naming): Keyed {
  if (format === 'export' && member === null) {
    const record = recordOf(text);
    if (!record) throw new NoKey('The line is not {"id": …, "document": …} as the first one.');
    return { key: record.id, generated: false, text: record.document };
  }
  const own = ownKey(text, member ?? ['doc_id']);
  if (own !== undefined) return { key: own, generated: false, text };
  if (member !== null) throw new NoKey('The member for the key is missing, or is neither a string nor an integer of 64 bits.');
  const generated = format === 'document' ? name : `${name}-${number}`;
  return { key: generated.startsWith('"') ? argumentOf(generated) : generated, generated: true, text };
}

/** The key at a place of the document; undefined if it is neither a string nor an integer of 64 bits. */
function ownKey(text: string, tokens: readonly string[]): string | undefined {
  const path: (string | number)[] = [];
  let value: unknown = JSON.parse(text);
  for (const token of tokens) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, token)) return undefined;
    if (Array.isArray(value) && !/^\d+$/.test(token)) return undefined;
    path.push(Array.isArray(value) ? Number(token) : token);
    value = (value as Record<string, unknown>)[token];
  }
  if (typeof value === 'string') return argumentOf(value);
  if (typeof value !== 'number') return undefined;
  const digits = new JsonText(text).at(path) ?? '';
  return isKeyInteger(digits) ? digits : undefined;
}

/** A string as a key: in quotation marks if its text is that of another kind of key. */
export function argumentOf(text: string): string {
  const other = text === '' || text.startsWith('"') || isKeyInteger(text) || /^@[0-9a-f]{24}$/i.test(text);
  return other ? JSON.stringify(text) : text;
}

const isKeyInteger = (text: string) =>
  /^(0|-?[1-9]\d{0,18})$/.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text);

/** The parts of a line of an export: exactly `{"id": …, "document": …}`. */
export function recordOf(line: string): { id: string; document: string } | undefined {
  let record: unknown;
  try {
    record = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (typeof record !== 'object' || record === null || Array.isArray(record)) return undefined;
  const { id } = record as { id?: unknown };
  const document = Object.keys(record).length === 2 ? new JsonText(line).at(['document']) : undefined;
  return typeof id === 'string' && document !== undefined ? { id, document } : undefined;
}
