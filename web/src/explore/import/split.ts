// Splits a file into its documents without parsing them.
import { detect, type Format } from './detect';
import { depthOf, Scanner } from './scanner';
import { TextSource, type ReadText, type TextPosition } from './textSource';

/** The text of a document, or the malformed text in its position. */
export interface Piece {
  /** From 1. */
  number: number;
  /** Where it begins. */
  position: TextPosition;
  text: string;
}

/** The file has not the structure that its format has, so that no further document can be found. */
export class BrokenFile extends Error {
  constructor({ line, column }: TextPosition, reason: string) {
    super(`Line ${line}, column ${column}: ${reason}`);
  }
}

/** The documents of a text. */
export async function* split(read: ReadText): AsyncGenerator<Piece & { format: Format }> {
  const source = new TextSource(read);
  const format = await detect(source);
  const pieces = format === 'array' ? elements(source) : format === 'document' ? whole(source) : lines(source);
  let number = 0;
  for await (const { position, text } of pieces) yield { format, number: ++number, position, text };
}

type Found = Omit<Piece, 'number'>;

async function* whole(source: TextSource): AsyncGenerator<Found> {
  while (await source.fill());
  yield take(source, source.ahead.length);
}

async function* lines(source: TextSource): AsyncGenerator<Found> {
  // Blank lines are ignored.
  while (await source.skipSpace()) {
    let from = 0;
    let end = source.ahead.indexOf('\n');
    while (end < 0) {
      from = source.ahead.length;
      if (!(await source.fill())) break;
      end = source.ahead.indexOf('\n', from);
    }
    yield take(source, end < 0 ? source.ahead.length : end);
  }
}

async function* elements(source: TextSource): AsyncGenerator<Found> {
  source.take(1);
  for (let number = 1; ; number++) {
    const end = await elementEnd(source, number);
    const last = source.ahead[end] === ']';
    const empty = number === 1 && last && source.ahead.slice(0, end).trim() === '';
    if (!empty) yield take(source, end);
    else source.take(end);
    source.take(1);
    if (last) break;
  }
  if (await source.skipSpace()) throw new BrokenFile(source.position, 'There is text after the array.');
}

/** The position of the comma or bracket that ends the element. */
async function elementEnd(source: TextSource, number: number): Promise<number> {
  const scanner = new Scanner();
  let depth = 0;
  for (;;) {
    for (let found = scanner.next(source.ahead); found !== undefined; found = scanner.next(source.ahead)) {
      const char = source.ahead[found];
      if (depth === 0 && (char === ',' || char === ']')) return found;
      depth = Math.max(depth + depthOf(char), 0);
    }
    if (await source.fill()) continue;
    await source.skipSpace();
    throw new BrokenFile(source.position, `The array has no end. The file ends in document ${number}, which begins here.`);
  }
}

/** Takes a document, which is in the next `length` characters. */
function take(source: TextSource, length: number): Found {
  const space = /^[ \n\r\t]*/.exec(source.ahead.slice(0, length))?.[0].length ?? 0;
  source.take(space);
  const { position } = source;
  return { position, text: source.take(length - space).replace(/[ \n\r\t]+$/, '') };
}
