// Imports a file: reads it document by document, and stores batches, each with one mutation.
import { jsonMistakeAt } from '../../api/json';
import { split, type Piece } from './split';
import { keyed, NoKey, type Keyed, type Naming } from './keys';
import { storeBatch, type BatchFailure } from './storeBatch';
import { positionAfter, readerOf, type TextPosition } from './textSource';

export interface ImportOptions extends Naming {
  collection: string;
}

export interface ImportProgress {
  /** Documents that are stored, those included that were stored before. */
  documents: number;
  /** Bytes of the file that are read. */
  bytes: number;
}

/** A document that cannot be imported. Those before it are stored. */
export class DocumentFailure extends Error {
  constructor({ number, position: { line, column } }: Placed, reason: string) {
    super(`Line ${line}, column ${column} (document ${number}): ${reason}`);
  }
}

type Placed = { number: number; position: TextPosition };
export type Prepared = Keyed & Placed;

const BATCH_DOCUMENTS = 200;
const BATCH_CHARACTERS = 2 ** 20;

/**
 * Stores the documents of the file in their order, until `signal` is aborted; the batch that is sent then is
 * still stored. Returns whether all are stored. Throws what ended it early.
 */
export async function importFile(
  file: Blob,
  options: ImportOptions,
  onProgress: (progress: ImportProgress) => void,
  signal: AbortSignal,
): Promise<boolean> {
  let bytes = 0;
  let documents = 0;
  let batch: Prepared[] = [];
  let characters = 0;
  const seen = new Map<string, number>();
  const flush = async () => {
    const full = batch;
    [batch, characters] = [[], 0];
    const { stored, failure } = await storeBatch(options.collection, full);
    documents += stored;
    onProgress({ documents, bytes });
    if (failure) throw failureOf(failure);
  };
  const read = readerOf(file, (more) => (bytes += more));
  let early: unknown;
  try {
    for await (const piece of split(read)) {
      const prepared = prepare(piece, piece.format, options, seen);
      batch.push(prepared);
      characters += prepared.text.length;
      if (batch.length < BATCH_DOCUMENTS && characters < BATCH_CHARACTERS) continue;
      await flush();
      if (signal.aborted) return false;
    }
  } catch (error) {
    if (batch.length === 0) throw error;
    early = error;
  }
  // What comes before a mistake is stored.
  if (batch.length > 0) await flush();
  if (early) throw early;
  return true;
}

function prepare(piece: Piece, format: Parameters<typeof keyed>[1], naming: Naming, seen: Map<string, number>): Prepared {
  const { number, position, text } = piece;
  const mistake = jsonMistakeAt(text);
  if (mistake) {
    throw new DocumentFailure({ number, position: positionAfter(position, text.slice(0, mistake.offset)) }, `${mistake.reason}.`);
  }
  try {
    const document = keyed(piece, format, naming);
    if (!document.generated) {
      const other = seen.get(document.key);
      if (other !== undefined) throw new NoKey(`Document ${other} has the same key, ${document.key}.`);
      seen.set(document.key, number);
    }
    return { ...document, number, position };
  } catch (error) {
    throw error instanceof NoKey ? new DocumentFailure(piece, error.message) : error;
  }
}

function failureOf({ document, error }: BatchFailure): Error {
  return document ? new DocumentFailure(document, error.message) : error;
}
