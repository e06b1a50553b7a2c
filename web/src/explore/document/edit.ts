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

/** Whether what is stored at the place of the edit is what was shown. */
export function isUntouched(edit: Edit, { place, text }: Current): boolean {
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
