import { useCallback, useEffect, useRef, useState } from 'react';
import { importFile, type ImportOptions, type ImportProgress } from './importFile';

export type ImportState =
  | { step: 'asking' }
  | { step: 'running'; progress: ImportProgress; stopping: boolean }
  | { step: 'ended'; progress: ImportProgress; error: Error | undefined; stopped: boolean };

export interface ImportControl {
  state: ImportState;
  start: (options: ImportOptions) => void;
  /** Ends after the batch that is sent. */
  stop: () => void;
  /** Asks again, with the file as it is. */
  again: () => void;
}

const NOTHING: ImportProgress = { documents: 0, bytes: 0 };

/** The import of a file. `onStored` is called when it has ended. */
export function useImport(file: File | undefined, onStored: () => void): ImportControl {
  const [state, setState] = useState<ImportState>({ step: 'asking' });
  const abort = useRef(new AbortController());
  const latest = useRef(onStored);
  latest.current = onStored;
  useEffect(() => () => abort.current.abort(), []);

  const start = useCallback(
    (options: ImportOptions) => {
      if (!file) return;
      const { signal } = (abort.current = new AbortController());
      let progress = NOTHING;
      setState({ step: 'running', progress, stopping: false });
      const onProgress = (next: ImportProgress) => {
        progress = next;
        setState((old) => (old.step === 'running' ? { ...old, progress } : old));
      };
      const end = (complete: boolean, error?: Error) => {
        setState({ step: 'ended', progress, error, stopped: !complete });
        latest.current();
      };
      void importFile(file, options, onProgress, signal).then(end, (error: Error) => end(false, error));
    },
    [file],
  );
  const stop = useCallback(() => {
    abort.current.abort();
    setState((old) => (old.step === 'running' ? { ...old, stopping: true } : old));
  }, []);
  const again = useCallback(() => setState({ step: 'asking' }), []);
  return { state, start, stop, again };
}
