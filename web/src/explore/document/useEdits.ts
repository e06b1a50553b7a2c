import { useCallback, useRef, useState } from 'react';
import { RequestError, type Violation } from '../../api/request';
import type { Path } from '../place';
import { applyEdit, undoEdit } from './applyEdit';
import { Mismatch, sayEdit, versionAfter, type Applied, type DocumentPlace, type Edit } from './edit';

export interface Edits {
  busy: boolean;
  /** The last edit that can be undone, in words. */
  done: { said: string; undoable: boolean } | undefined;
  mismatch: Mismatch | undefined;
  error: Error | undefined;
  /** Why the type of the collection does not allow the edit of the form that is open. */
  violations: readonly Violation[];
  /** Returns whether its form is not needed any more: the edit is stored and shown, or the mismatch shows it. */
  apply: (edit: Edit, version: string | null, inForm?: boolean) => Promise<boolean>;
  undo: () => void;
  /** Forgets a mismatch or an error. */
  dismiss: () => void;
}

const NONE: readonly Violation[] = [];

interface Done extends Applied {
  said: string;
}

/** Edits of a document, one after the other. `refresh` reads what is shown at a path again. */
export function useEdits(at: DocumentPlace, refresh: (paths: readonly Path[]) => Promise<void>): Edits {
  const [busy, setBusy] = useState(false);
  const [done, setDone] = useState<Done>();
  const [error, setError] = useState<Error>();
  // A form shows what does not fit at its field. Undo has no form.
  const [inForm, setInForm] = useState(true);
  const { collection, id } = at;
  const own = useRef(new Map<string, string>());

  const run = useCallback(
    async (edit: Edit, said: string, change: () => Promise<Applied>): Promise<boolean> => {
      setBusy(true);
      setError(undefined);
      try {
        const applied = await change();
        if (applied.from !== null && applied.version !== null) own.current.set(applied.from, applied.version);
        await refresh([shownAt(edit)]);
        setDone({ ...applied, said });
        return true;
      } catch (error) {
        setError(error as Error);
        return error instanceof Mismatch;
      } finally {
        setBusy(false);
      }
    },
    [refresh],
  );
  const apply = useCallback(
    (edit: Edit, version: string | null, inForm = true) => {
      setInForm(inForm);
      return run(edit, sayEdit(edit), () => applyEdit({ collection, id }, edit, versionAfter(own.current, version)));
    },
    [run, collection, id],
  );
  const undo = useCallback(() => {
    const inverse = done?.inverse;
    if (!inverse) return;
    setInForm(false);
    const change = async () => ({ ...(await undoEdit({ collection, id }, inverse, done.version)), inverse: undefined });
    void run(inverse, 'The last edit is undone.', change);
  }, [run, done, collection, id]);
  const dismiss = useCallback(() => setError(undefined), []);
  const violations = error instanceof RequestError && inForm ? error.violations : NONE;
  return {
    busy,
    done: done && { said: done.said, undoable: done.inverse !== undefined },
    mismatch: error instanceof Mismatch ? error : undefined,
    error: error instanceof Mismatch || violations.length > 0 ? undefined : error,
    violations,
    apply,
    undo,
    dismiss,
  };
}

/** Where the edit is seen: an array whose elements move as a whole. */
function shownAt(edit: Edit): Path {
  return edit.kind === 'remove' && edit.inArray ? edit.path.slice(0, -1) : edit.path;
}
