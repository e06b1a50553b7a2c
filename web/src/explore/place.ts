// How a place in a document is written.
import { hrefOf } from '../route';

export type Segment = string | number;
export type Path = readonly Segment[];

/** A path, or a JSON Pointer of which only the server knows whether its digits are names or indexes. */
export type PathInput = Path | string;

/** A JSON Pointer (RFC 6901). */
export function pointerOf(path: Path): string {
  return path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** The path in an address: a JSON Pointer, or a JSON list if a pointer could mean another place, too. */
export function textOfPath(path: Path): string {
  const ambiguous = path.some((step) => typeof step === 'number' || isAmbiguous(step));
  return ambiguous ? JSON.stringify(path) : pointerOf(path);
}

/** The address of a document, or of a part of it as a tree of its own. */
export const hrefOfPlace = (collection: string, id: string, path: Path): string =>
  path.length === 0 ? hrefOf('c', collection, id) : hrefOf('c', collection, id, textOfPath(path));

/** In a JSON Pointer, such a token is an index of an array, and a name in an object. */
const isAmbiguous = (token: string) => /^(-|-?\d+)$/.test(token);

/** Whether a name on the path could be an index: access rules can forbid the pointer, and ids have one. */
export const hasNameOfDigits = (path: Path) => path.some((step) => typeof step === 'string' && isAmbiguous(step));

/** The path that a text means; undefined if it is neither a JSON Pointer nor a JSON list of names and indexes. */
export function pathOfText(text: string): PathInput | undefined {
  const tokens = tokensOf(text);
  if (tokens) return tokens.some(isAmbiguous) ? text : tokens;
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) && list.every(isSegment) ? list : undefined;
  } catch {
    return undefined;
  }
}

const isSegment = (step: unknown): step is Segment => typeof step === 'string' || Number.isSafeInteger(step);

/** The tokens of a JSON Pointer; undefined if it is none. */
export function tokensOf(pointer: string): string[] | undefined {
  if (/^[^/]|~(?![01])/.test(pointer)) return undefined;
  return pointer.split('/').slice(1).map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** The places from the whole document down to this one, each with its name and the text of its path. */
export function trailOf(path: PathInput): { name: string; text: string }[] {
  const steps = typeof path === 'string' ? (tokensOf(path) ?? []) : path;
  const textOf = (length: number) => {
    const part = steps.slice(0, length);
    return typeof path === 'string' ? pointerOf(part) : textOfPath(part);
  };
  const below = steps.map((step, index) => ({ name: shownName(step), text: textOf(index + 1) }));
  return [{ name: '$', text: '' }, ...below];
}

/** Whether the second path is the first one or below it. */
export function contains(path: Path, other: Path): boolean {
  return pointerOf(path) === pointerOf(other.slice(0, path.length));
}

/** A normalized JSONPath (RFC 9535 §2.7), with `.name` where the name allows it. */
export function jsonPathOf(path: Path): string {
  return `$${path.map(stepOf).join('')}`;
}

/** A step of a JSONPath. */
export function stepOf(step: Segment): string {
  if (typeof step === 'number') return `[${step}]`;
  return /^[A-Za-z_][A-Za-z_0-9]*$/.test(step) ? `.${step}` : `['${quoted(step)}']`;
}

function quoted(name: string): string {
  const escaped = name.replaceAll('\\', '\\\\').replaceAll("'", "\\'");
  return escaped.replaceAll(/[\u0000-\u001f]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

const STEP = String.raw`\.([\p{L}_][\p{L}\p{N}_]*)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]`;

/** The path of a JSONPath that has only names and indexes; undefined for others. */
export function pathOfJsonPath(text: string): Path | undefined {
  if (!new RegExp(`^\\$(?:${STEP})*$`, 'u').test(text)) return undefined;
  try {
    return [...text.matchAll(new RegExp(STEP, 'gu'))].map(([, name, index, single, double]) => {
      if (index !== undefined) return Number(index);
      if (name !== undefined) return name;
      const quoted = double ?? (single ?? '').replaceAll("\\'", "'").replaceAll('"', '\\"');
      return String(JSON.parse(`"${quoted}"`));
    });
  } catch {
    return undefined;
  }
}

/** A query that reads the place, for GraphiQL and for clients. */
export function queryOf(collection: string, key: string, path: Path): string {
  const place = [
    `id: ${JSON.stringify(key)}`,
    `collection: ${JSON.stringify(collection)}`,
    `path: ${JSON.stringify(path)}`,
  ];
  return `query Place {\n  document(${place.join(', ')}) {\n    id\n    version\n    kind\n    value\n  }\n}\n`;
}

/** A name or a key as it is shown: invisible characters are written as escapes, and spaces alone in quotation marks. */
export function shownName(step: Segment): string {
  if (typeof step === 'number') return String(step);
  if (step.trim() === '' && !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(step)) return `"${step}"`;
  return step.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (char) => {
    const code = char.codePointAt(0) ?? 0;
    return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}
