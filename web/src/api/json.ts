// JSON with every number as it was written. JavaScript's own parser rounds integers past 2^53 and
// loses the sign of -0; such numbers stay text here, as `LosslessNumber`.
import { LosslessNumber, parse, stringify } from 'lossless-json';

const exact = (text: string) => (String(Number(text)) === text ? Number(text) : new LosslessNumber(text));

/** Throws a `SyntaxError` that says where the text is not JSON. */
export function parseJson(text: string): unknown {
  return parse(text, undefined, { parseNumber: exact });
}

export function formatJson(value: unknown): string {
  return stringify(value) ?? 'null';
}
