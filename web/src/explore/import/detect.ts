// The format of a file, from its beginning, as `phyllo import` finds it.
import { recordOf } from './keys';
import { depthOf, Scanner, valueEnd } from './scanner';
import { isSpace, type TextSource } from './textSource';

/** `export`: lines as `phyllo export` prints them, `{"id": …, "document": …}`. */
export type Format = 'document' | 'array' | 'lines' | 'export';

/** Characters in which an array ends if it is the first of several lines. */
const AHEAD = 2 ** 16;

/** Reads at most the first document and the rest of its line. */
export async function detect(source: TextSource): Promise<Format> {
  if (!(await source.skipSpace())) return 'lines'; // as an export of an empty collection
  const first = source.ahead[0];
  if (first === '[') return detectArray(source);
  return first === '{' ? detectObject(source) : detectScalar(source);
}

async function detectArray(source: TextSource): Promise<Format> {
  while (source.ahead.length < AHEAD && (await source.fill()));
  const end = valueEnd(source.ahead);
  if (end === undefined) return 'array';
  const between = /^\s*/.exec(source.ahead.slice(end))?.[0] ?? '';
  return end + between.length < source.ahead.length && between.includes('\n') ? 'lines' : 'array';
}

async function detectScalar(source: TextSource): Promise<Format> {
  for (let from = 0; ; ) {
    const end = source.ahead.indexOf('\n', from);
    if (end >= 0) return (await firstBehind(source, end)) === undefined ? 'document' : 'lines';
    from = source.ahead.length;
    if (!(await source.fill())) return 'document';
  }
}

async function detectObject(source: TextSource): Promise<Format> {
  const scanner = new Scanner();
  let depth = 0;
  for (;;) {
    for (let found = scanner.next(source.ahead); found !== undefined; found = scanner.next(source.ahead)) {
      const char = source.ahead[found];
      depth += depthOf(char);
      if (depth === 0) return afterObject(source, scanner.at);
      if (char === '\n') return (await continuesAfter(source, found)) ? 'document' : 'lines';
    }
    if (!(await source.fill())) return 'document';
  }
}

async function afterObject(source: TextSource, end: number): Promise<Format> {
  if (recordOf(source.ahead.slice(0, end))) return 'export';
  return (await firstBehind(source, end)) === undefined ? 'document' : 'lines';
}

/** Whether a value with a line feed at `at` can continue on the next line. If not, its line is cut. */
async function continuesAfter(source: TextSource, at: number): Promise<boolean> {
  const before = source.ahead.slice(0, at).trimEnd().at(-1) ?? '';
  const behind = await firstBehind(source, at);
  return '{[,:'.includes(before) || behind === undefined || '}],:'.includes(behind);
}

/** The first character from `at` on that is no white space. */
async function firstBehind(source: TextSource, at: number): Promise<string | undefined> {
  for (;;) {
    while (isSpace(source.ahead[at])) at += 1;
    if (at < source.ahead.length) return source.ahead[at];
    if (!(await source.fill())) return undefined;
  }
}
