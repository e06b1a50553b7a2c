// The text of a file, read in chunks: no more of it is held than the document that is read and one chunk.

/** From 1; columns count UTF-16 code units. */
export interface TextPosition {
  line: number;
  column: number;
}

export const positionAfter = ({ line, column }: TextPosition, text: string): TextPosition => {
  const last = text.lastIndexOf('\n');
  if (last < 0) return { line, column: column + text.length };
  let feeds = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) feeds += 1;
  return { line: line + feeds, column: text.length - last };
};

/** Returns the next part of the text, and undefined at its end. */
export type ReadText = () => Promise<string | undefined>;

/** JSON's white space (RFC 8259 §2). */
export const isSpace = (char: string | undefined) => char === ' ' || char === '\n' || char === '\r' || char === '\t';

/** Buffers text until it is taken. */
export class TextSource {
  /** What is read and not taken. */
  ahead = '';
  position: TextPosition = { line: 1, column: 1 };
  #ended = false;

  constructor(readonly read: ReadText) {}

  /** Reads more. Returns false at the end. */
  async fill(): Promise<boolean> {
    if (this.#ended) return false;
    const text = await this.read();
    this.#ended = text === undefined;
    this.ahead += text ?? '';
    return !this.#ended;
  }

  /** Takes the next `length` characters. */
  take(length: number): string {
    const taken = this.ahead.slice(0, length);
    this.ahead = this.ahead.slice(length);
    this.position = positionAfter(this.position, taken);
    return taken;
  }

  /** Takes white space. Returns false at the end of the text. */
  async skipSpace(): Promise<boolean> {
    for (;;) {
      let space = 0;
      while (isSpace(this.ahead[space])) space += 1;
      const found = space < this.ahead.length;
      this.take(space);
      if (found) return true;
      if (!(await this.fill())) return false;
    }
  }
}

/** The file is no text in UTF-8. */
export class NotUtf8 extends Error {
  constructor() {
    super('The file is no text in UTF-8.');
  }
}

/** Characters of a chunk, at least. Longer chunks copy less of a document that spans several of them. */
const CHUNK = 2 ** 20;

/** Reads a file. `onBytes` is called with the bytes that are read. */
export function readerOf(file: Blob, onBytes: (bytes: number) => void): ReadText {
  const reader = file.stream().getReader();
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const decode = (bytes?: Uint8Array) => {
    try {
      return bytes ? decoder.decode(bytes, { stream: true }) : decoder.decode();
    } catch {
      throw new NotUtf8();
    }
  };
  let ended = false;
  return async () => {
    if (ended) return undefined;
    let text = '';
    while (text.length < CHUNK) {
      const { done, value } = await reader.read();
      if (done) {
        ended = true;
        return text + decode();
      }
      onBytes(value.length);
      text += decode(value);
    }
    return text;
  };
}
