import { useCallback, useState } from 'react';
import type { Path } from '../place';
import { applyEdit, undoEdit } from './applyEdit';
import { Mismatch, sayEdit, type Applied, type DocumentPlace, type Edit } from './edit';

export interface Edits {
  busy: boolean;
  /** The last edit that can be undone, in words. */
  done: { said: string; undoable: boolean } | undefined;
  mismatch: Mismatch | undefined;
  error: Error | undefined;
  /** Returns whether its form is not needed any more: the edit is stored and shown, or the mismatch shows it. */
  apply: (edit: Edit, version: string | null) => Promise<boolean>;
  undo: () => void;
  /** Forgets a mismatch or an error. */
  dismiss: () => void;
}

interface Done extends Applied {
  said: string;
}

/** Edits of a document, one after the other. `refresh` reads what is shown at a path again. */
export function useEdits(at: DocumentPlace, refresh: (paths: readonly Path[]) => Promise<void>): Edits {
  const [busy, setBusy] = useState(false);
  const [done, setDone] = useState<Done>();
  const [error, setError] = useState<Error>();
  const { collection, id } = at;

  const run = useCallback(
    async (edit: Edit, said: string, change: () => Promise<Applied>): Promise<boolean> => {
      setBusy(true);
      setError(undefined);
      try {
        const applied = await change();
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
    (edit: Edit, version: string | null) =>
      run(edit, sayEdit(edit), () => applyEdit({ collection, id }, edit, version)),
    [run, collection, id],
  );
  const undo = useCallback(() => {
    const inverse = done?.inverse;
    if (!inverse) return;
    const change = async () => ({ ...(await undoEdit({ collection, id }, inverse, done.version)), inverse: undefined });
    void run(inverse, 'The last edit is undone.', change);
  }, [run, done, collection, id]);
  const dismiss = useCallback(() => setError(undefined), []);
  return {
    busy,
    done: done && { said: done.said, undoable: done.inverse !== undefined },
    mismatch: error instanceof Mismatch ? error : undefined,
    error: error instanceof Mismatch ? undefined : error,
    apply,
    undo,
    dismiss,
  };
}

/** Where the edit is seen: an array whose elements move as a whole. */
function shownAt(edit: Edit): Path {
  return edit.kind === 'remove' && edit.inArray ? edit.path.slice(0, -1) : edit.path;
}
