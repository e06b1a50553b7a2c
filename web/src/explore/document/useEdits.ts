import { useCallback, useRef, useState } from 'react';
import { RequestError, type Violation } from '../../api/request';
import type { Path } from '../place';
import { applyEdit, undoEdit } from './applyEdit';
import { Mismatch, sayEdit, versionAfter, type Applied, type DocumentPlace, type Edit } from './edit';

export interface Edits {
  /** Whether edits are not stored and shown yet. */
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

interface Task {
  edit: Edit;
  said: string;
  /** A form shows what does not fit at its field. Undo has no form. */
  inForm: boolean;
  change: () => Promise<Applied>;
}

interface Failed extends Pick<Task, 'inForm'> {
  error: Error;
}

/**
 * Edits of a document. One that is asked for while another one is stored and read again waits for it.
 * `refresh` reads what is shown at a path again.
 */
export function useEdits(at: DocumentPlace, refresh: (paths: readonly Path[]) => Promise<void>): Edits {
  const [unfinished, setUnfinished] = useState(0);
  const [done, setDone] = useState<Done>();
  const [failure, setFailure] = useState<Failed>();
  const { collection, id } = at;
  const own = useRef(new Map<string, string>());
  const queue = useRef<Promise<unknown>>(Promise.resolve());

  const runNow = useCallback(
    async ({ edit, said, inForm, change }: Task): Promise<boolean> => {
      try {
        const applied = await change();
        if (applied.from !== null && applied.version !== null) own.current.set(applied.from, applied.version);
        await refresh([shownAt(edit)]);
        setDone({ ...applied, said });
        return true;
      } catch (error) {
        setFailure({ error: error as Error, inForm });
        return error instanceof Mismatch;
      } finally {
        setUnfinished((count) => count - 1);
      }
    },
    [refresh],
  );
  const run = useCallback(
    (task: Task): Promise<boolean> => {
      setUnfinished((count) => count + 1);
      setFailure(undefined);
      const turn = queue.current.then(() => runNow(task));
      queue.current = turn;
      return turn;
    },
    [runNow],
  );
  const apply = useCallback(
    (edit: Edit, version: string | null, inForm = true) => {
      const change = () => applyEdit({ collection, id }, edit, versionAfter(own.current, version));
      return run({ edit, said: sayEdit(edit), inForm, change });
    },
    [run, collection, id],
  );
  const undo = useCallback(() => {
    const inverse = done?.inverse;
    if (!inverse) return;
    const change = async () => ({ ...(await undoEdit({ collection, id }, inverse, done.version)), inverse: undefined });
    void run({ edit: inverse, said: 'The last edit is undone.', inForm: false, change });
  }, [run, done, collection, id]);
  const dismiss = useCallback(() => setFailure(undefined), []);
  const error = failure?.error;
  const violations = error instanceof RequestError && failure?.inForm ? error.violations : NONE;
  return {
    busy: unfinished > 0,
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
