// Edits of a document: each is one mutation on the version that was shown, and has an inverse.
import {
  CurrentDocument,
  InsertDocument,
  PatchDocument,
  RemoveDocument,
  ReplaceDocument,
  RootDocument,
  type PlaceFragment,
} from '../../api/generated';
import { RawJson } from '../../api/json';
import { request, RequestError, requestText, ResponseTooLarge } from '../../api/request';
import { pointerOf, type Path } from '../place';

export interface DocumentPlace {
  collection: string;
  id: string;
}

/** Values are JSON text, so that numbers keep their digits. */
export type Edit =
  | { kind: 'replace'; path: Path; text: string; before: string | undefined }
  /** `path` ends with the name of the new member. */
  | { kind: 'add'; path: Path; text: string }
  /** The later elements of the array move down. */
  | { kind: 'insert'; path: Path; index: number; text: string }
  | { kind: 'remove'; path: Path; inArray: boolean; before: string | undefined };

export interface Applied {
  /** The version after the edit; null if the document is gone. */
  version: string | null;
  /** What undoes it; undefined if the value before it is not known. */
  inverse: Edit | undefined;
}

/** What is stored at a place now. `text` is undefined if nothing is, or if it is too large. */
export interface Current {
  place: PlaceFragment | null;
  text: string | undefined;
}

/** The document has changed since it was shown, at the place of the edit. */
export class Mismatch extends Error {
  constructor(
    readonly edit: Edit,
    readonly current: Current,
  ) {
    super('Somebody else has changed this value.');
  }
}

/** The largest value that is read for the editor and for undo. */
export const EDITED_BYTES_MAX = 4 * 2 ** 20;

/** Attempts while other places of the document keep changing. */
const ATTEMPTS = 5;

/**
 * Applies the edit if the document has this version. If it has another one, but the value at the place
 * is the one that was shown, the edit is sent again with the new version.
 */
export async function applyEdit(at: DocumentPlace, edit: Edit, version: string | null): Promise<Applied> {
  let expected = version;
  if (edit.kind === 'add') expected = await versionWithout(at, edit);
  for (let attempt = 1; ; attempt++) {
    try {
      return { version: await send(at, edit, expected), inverse: inverseOf(edit) };
    } catch (error) {
      if (!(error instanceof RequestError && error.code === 'VERSION_MISMATCH')) throw error;
    }
    const current = edit.kind === 'insert' ? await readPlace(at, edit.path) : await readCurrent(at, edit.path);
    if (attempt === ATTEMPTS || !isUntouched(edit, current)) throw new Mismatch(edit, current);
    expected = current.place?.version ?? null;
  }
}

/** A new member must not replace one that is beyond the page that is shown. */
async function versionWithout(at: DocumentPlace, edit: Edit & { kind: 'add' }): Promise<string | null> {
  const current = await readCurrent(at, edit.path);
  if (current.place) throw new Mismatch(edit, current);
  return (await readPlace(at, edit.path.slice(0, -1))).place?.version ?? null;
}

function isUntouched(edit: Edit, { place, text }: Current): boolean {
  switch (edit.kind) {
    case 'add':
      return place === null;
    case 'replace':
    case 'remove':
      return place !== null && edit.before !== undefined && edit.before === text;
    case 'insert':
      return false; // the element that was there may have moved
  }
}

async function send(at: DocumentPlace, edit: Edit, ifVersion: string | null): Promise<string | null> {
  const { path } = edit;
  switch (edit.kind) {
    case 'replace':
    case 'add': {
      const variables = { ...at, path, document: new RawJson(edit.text), ifVersion };
      return (await request(ReplaceDocument, variables)).replaceDocument.version;
    }
    case 'insert': {
      const patch = [{ op: 'add', path: `/${edit.index}`, value: new RawJson(edit.text) }];
      return (await request(PatchDocument, { ...at, path, patch, ifVersion })).patchDocument.version;
    }
    case 'remove': {
      const { deleteDocument } = await request(RemoveDocument, { ...at, path, ifVersion });
      return deleteDocument.document?.version ?? null;
    }
  }
}

/** Pure: exported for its tests. */
export function inverseOf(edit: Edit): Edit | undefined {
  const { path } = edit;
  switch (edit.kind) {
    case 'replace':
      return edit.before === undefined ? undefined : { kind: 'replace', path, text: edit.before, before: edit.text };
    case 'add':
      return { kind: 'remove', path, inArray: false, before: edit.text };
    case 'insert':
      return { kind: 'remove', path: [...path, edit.index], inArray: true, before: edit.text };
    case 'remove': {
      const last = path.at(-1);
      if (edit.before === undefined) return undefined;
      if (!edit.inArray || typeof last !== 'number') return { kind: 'add', path, text: edit.before };
      return { kind: 'insert', path: path.slice(0, -1), index: last, text: edit.before };
    }
  }
}

/** Undoes an edit whose result has this version. A removed document is inserted again. */
export async function undoEdit(at: DocumentPlace, inverse: Edit, version: string | null): Promise<Applied> {
  if (inverse.path.length > 0 || inverse.kind !== 'add') return applyEdit(at, inverse, version);
  const variables = { ...at, document: new RawJson(inverse.text) };
  const { insertDocument } = await request(InsertDocument, variables);
  return { version: insertDocument.version, inverse: inverseOf(inverse) };
}

/** Throws `ResponseTooLarge` only if `strict`; else a value that is too large has no text. */
export async function readCurrent(at: DocumentPlace, path: Path, strict = false): Promise<Current> {
  try {
    const { data, json } = await requestText(CurrentDocument, { ...at, path }, { maxBytes: EDITED_BYTES_MAX });
    const text = data.document ? json.at(['data', 'document', 'value']) : undefined;
    return { place: data.document, text };
  } catch (error) {
    if (strict || !isTooLarge(error)) throw error;
    return readPlace(at, path);
  }
}

async function readPlace(at: DocumentPlace, path: Path): Promise<Current> {
  return { place: (await request(RootDocument, { ...at, path })).document, text: undefined };
}

const isTooLarge = (error: unknown) =>
  error instanceof ResponseTooLarge || (error instanceof RequestError && error.code === 'TOO_LARGE');

/** In words, for the line that offers to undo it. */
export function sayEdit(edit: Edit): string {
  const place = pointerOf(edit.path) || 'the document';
  switch (edit.kind) {
    case 'replace':
      return `Changed ${place}.`;
    case 'add':
      return `Added ${place}.`;
    case 'insert':
      return `Inserted element ${edit.index} of ${place}.`;
    case 'remove':
      return `Removed ${place}.`;
  }
}
