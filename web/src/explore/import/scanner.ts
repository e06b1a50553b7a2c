/**
 * Finds brackets, commas and line feeds outside of strings. The text can be passed in pieces of any size. A
 * line feed ends a string, because JSON strings have none: that confines a mistake to its line.
 */
export class Scanner {
  at = 0;
  #inString = false;
  #escaped = false;

  /** The position of the next such character of `text`, from `at` on; undefined at the end of the text. */
  next(text: string): number | undefined {
    for (;;) {
      if (this.#inString && !this.#endString(text)) return undefined;
      MATTERS.lastIndex = this.at;
      const found = MATTERS.exec(text)?.index;
      this.at = found === undefined ? text.length : found + 1;
      if (found === undefined || text[found] !== '"') return found;
      this.#inString = true;
    }
  }

  /** Returns false if the text ends inside of the string. */
  #endString(text: string): boolean {
    if (this.#escaped && this.at < text.length) {
      this.#escaped = false;
      if (text[this.at] !== '\n') this.at += 1;
    }
    for (;;) {
      OF_STRINGS.lastIndex = this.at;
      const found = OF_STRINGS.exec(text)?.index;
      if (found === undefined) {
        this.at = text.length;
        return false;
      }
      if (text[found] !== '\\') {
        this.#inString = false;
        this.at = text[found] === '"' ? found + 1 : found;
        return true;
      }
      this.#escaped = found + 1 === text.length;
      this.at = found + (this.#escaped || text[found + 1] === '\n' ? 1 : 2);
    }
  }
}

const MATTERS = /[{}[\],"\n]/g;
const OF_STRINGS = /["\\\n]/g;

/** How a bracket changes the depth. */
export const depthOf = (char: string | undefined) =>
  char === '{' || char === '[' ? 1 : char === '}' || char === ']' ? -1 : 0;

/** The end of the object or array at the start of `text`; undefined if it is not complete. */
export function valueEnd(text: string): number | undefined {
  const scanner = new Scanner();
  let depth = 0;
  for (let found = scanner.next(text); found !== undefined; found = scanner.next(text)) {
    const change = depthOf(text[found]);
    depth += change;
    if (change !== 0 && depth <= 0) return scanner.at;
  }
  return undefined;
}
