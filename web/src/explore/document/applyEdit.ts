// Sends edits: each is one mutation on the version that was shown.
import {
  CurrentDocument,
  InsertDocument,
  PatchDocument,
  RemoveDocument,
  ReplaceDocument,
  RootDocument,
  type RemoveMutationVariables,
} from '../../api/generated';
import { RawJson } from '../../api/json';
import { isForbiddenByRules, request, RequestError, requestText, ResponseTooLarge } from '../../api/request';
import type { Path } from '../place';
import { inverseOf, isUntouched, Mismatch, type Applied, type Current, type DocumentPlace, type Edit } from './edit';

/** The largest value that is read for the editor and for undo. */
const EDITED_BYTES_MAX = 4 * 2 ** 20;

/** Attempts while other places of the document keep changing. */
const ATTEMPTS = 5;

/**
 * Applies the edit if the document has this version. If it has another one, but the value at the place
 * is the one that was shown, the edit is sent again with the new version.
 */
export async function applyEdit(at: DocumentPlace, edit: Edit, version: string | null): Promise<Applied> {
  let expected = version;
  for (let attempt = 1; ; attempt++) {
    if (edit.kind === 'add') expected = await versionWithout(at, edit, attempt === 1 ? version : null);
    try {
      return { from: expected, version: await send(at, edit, expected), inverse: inverseOf(edit) };
    } catch (error) {
      if (!(error instanceof RequestError && error.code === 'VERSION_MISMATCH')) throw error;
    }
    const current = edit.kind === 'insert' ? await readPlace(at, edit.path) : await readCurrent(at, edit.path);
    if (attempt === ATTEMPTS || !isUntouched(edit, current)) throw new Mismatch(edit, current);
    expected = current.place?.version ?? null;
  }
}

/**
 * A new member must not replace one that is beyond the page that is shown. Access rules can allow the member and
 * forbid its parent, which has the version; then it is `known`.
 */
async function versionWithout(
  at: DocumentPlace,
  edit: Edit & { kind: 'add' },
  known: string | null,
): Promise<string | null> {
  const current = await readCurrent(at, edit.path);
  if (current.place) throw new Mismatch(edit, current);
  try {
    return (await readPlace(at, edit.path.slice(0, -1))).place?.version ?? null;
  } catch (error) {
    if (!isForbiddenByRules(error)) throw error;
    return known;
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
    case 'remove':
      return remove({ ...at, path, ifVersion });
  }
}

/** A forbidden field rejects the whole mutation before it has an effect, so it is sent again without the field. */
async function remove(variables: Omit<RemoveMutationVariables, 'withVersion'>): Promise<string | null> {
  try {
    const { deleteDocument } = await request(RemoveDocument, { ...variables, withVersion: true });
    return deleteDocument.document?.version ?? null;
  } catch (error) {
    if (!isForbiddenByRules(error)) throw error;
    await request(RemoveDocument, { ...variables, withVersion: false });
    return null;
  }
}

/** Undoes an edit whose result has this version. A removed document is inserted again. */
export async function undoEdit(at: DocumentPlace, inverse: Edit, version: string | null): Promise<Applied> {
  if (inverse.path.length > 0 || inverse.kind !== 'add') return applyEdit(at, inverse, version);
  const variables = { ...at, document: new RawJson(inverse.text) };
  const { insertDocument } = await request(InsertDocument, variables);
  return { from: null, version: insertDocument.version, inverse: inverseOf(inverse) };
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
