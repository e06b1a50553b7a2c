// JSON as text. JavaScript rounds integers past 2^53, loses the sign of -0 and sorts members that look
// like indexes, so stored values are never parsed into JavaScript values: they stay the text that the
// server sent, and are sent back as text.
import {
  applyEdits,
  findNodeAtLocation,
  format,
  parseTree,
  printParseErrorCode,
  type Node,
  type ParseError,
} from 'jsonc-parser';

/** JSON text that `formatJson` writes as it is. */
export class RawJson {
  constructor(readonly text: string) {}
}

/** As `JSON.stringify`, but with values that are text already. */
export function formatJson(value: unknown): string {
  if (value instanceof RawJson) return value.text;
  if (Array.isArray(value)) return `[${value.map(formatJson).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).filter(([, member]) => member !== undefined);
    return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${formatJson(member)}`).join(',')}}`;
  }
  return JSON.stringify(value) ?? 'null';
}

/** A parsed text, of which values are read as they are written. */
export class JsonText {
  readonly #root: Node | undefined;

  constructor(readonly text: string) {
    this.#root = parseTree(text);
  }

  /** The text of the value at `path`; undefined if there is none. */
  at(path: (string | number)[]): string | undefined {
    const node = this.#root && findNodeAtLocation(this.#root, path);
    return node && this.text.slice(node.offset, node.offset + node.length);
  }
}

/** With a member or element on each line. The values stay as they are written. */
export function indented(text: string): string {
  const options = { insertSpaces: true, tabSize: 2, eol: '\n' };
  return applyEdits(text, format(text, undefined, options));
}

/** What is wrong with the text, and where; undefined if it is JSON. */
export function jsonMistake(text: string): string | undefined {
  const { root, error } = parsed(text);
  if (error) return `${reasonOf(error)} ${positionOf(text, error.offset)}.`;
  const twice = root && repeatedName(root);
  if (twice) return `The name ${JSON.stringify(twice.value)} occurs twice ${positionOf(text, twice.offset)}.`;
  return isJson(text) ? undefined : 'This is not JSON.';
}

/** As `jsonMistake`, with the offset, and fast if there is none. A name that occurs twice is for the server to judge. */
export function jsonMistakeAt(text: string): { reason: string; offset: number } | undefined {
  if (isJson(text)) return undefined;
  const { error } = parsed(text);
  return error ? { reason: reasonOf(error), offset: error.offset } : { reason: 'This is not JSON', offset: 0 };
}

function parsed(text: string): { root: Node | undefined; error: ParseError | undefined } {
  const errors: ParseError[] = [];
  const options = { disallowComments: true, allowTrailingComma: false, allowEmptyContent: false };
  const root = parseTree(text, errors, options);
  return { root, error: errors[0] };
}

/** Stricter than jsonc-parser about control characters and numbers. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const reasonOf = ({ error }: ParseError) => MISTAKES[printParseErrorCode(error)] ?? 'This is not JSON';

/** In the words of the page; jsonc-parser only names them. */
const MISTAKES: Record<string, string> = {
  InvalidSymbol: 'A value is expected; text is written in quotation marks',
  InvalidNumberFormat: 'This is not a number',
  PropertyNameExpected: 'A name in quotation marks is expected',
  ValueExpected: 'A value is expected',
  ColonExpected: 'A colon is expected',
  CommaExpected: 'A comma is expected',
  CloseBraceExpected: 'A closing brace is missing',
  CloseBracketExpected: 'A closing bracket is missing',
  EndOfFileExpected: 'The value ends before this; more text follows',
  UnexpectedEndOfString: 'The string has no end',
};

function positionOf(text: string, offset: number): string {
  const lines = text.slice(0, offset).split('\n');
  return `at line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}`;
}

/** The second of two equal names in an object. */
function repeatedName(node: Node): Node | undefined {
  const names = new Set<string>();
  for (const child of node.children ?? []) {
    const [name, value] = node.type === 'object' ? (child.children ?? []) : [undefined, child];
    if (name && names.has(name.value)) return name;
    if (name) names.add(name.value);
    const below = value && repeatedName(value);
    if (below) return below;
  }
  return undefined;
}
