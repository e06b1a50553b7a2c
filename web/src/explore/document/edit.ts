// Edits of a document: each has an inverse, and depends on the value that it replaces.
import type { PlaceFragment } from '../../api/generated';
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
  /** The later elements of the array move down. `length` is that of the array which was shown. */
  | { kind: 'insert'; path: Path; index: number; text: string; length?: number }
  | { kind: 'remove'; path: Path; inArray: boolean; before: string | undefined };

export interface Applied {
  /** The version that the edit depended on; null if it did on none. */
  from: string | null;
  /** The version after the edit; null if the document is gone. */
  version: string | null;
  /** What undoes it; undefined if the value before it is not known. */
  inverse: Edit | undefined;
}

/**
 * The version of what is shown after own edits. Each maps the version that it depended on to the one that it made, and
 * nobody else changed the document in between.
 */
export function versionAfter(own: ReadonlyMap<string, string>, version: string | null): string | null {
  let current = version;
  for (let next = current; next != null; next = own.get(next) ?? null) current = next;
  return current;
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

/** Whether what is stored at the place of the edit is what was shown. */
export function isUntouched(edit: Edit, { place, text }: Current): boolean {
  switch (edit.kind) {
    case 'add':
      return place === null;
    case 'replace':
    case 'remove':
      return place !== null && edit.before !== undefined && edit.before === text;
    case 'insert':
      // The element that was there may have moved, but the end is the end.
      return place?.kind === 'ARRAY' && edit.index === edit.length && place.length === edit.length;
  }
}

/** The edit that undoes this one; undefined if the value before it is not known. */
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
