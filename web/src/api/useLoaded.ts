import { useCallback, useEffect, useState } from 'react';

export interface Loaded<Data> {
  data: Data | undefined;
  error: Error | undefined;
  loading: boolean;
  reload: () => void;
}

interface State<Data> {
  /** That of the data. */
  key?: string;
  data?: Data;
  error?: Error;
  loading: boolean;
}

/**
 * What `load` returns, loaded again when `key` changes or on `reload`. The last data stays until the
 * next arrives, beside the error if a reload fails; a request that is not needed any more is aborted.
 */
export function useLoaded<Data>(key: string, load: (signal: AbortSignal) => Promise<Data>): Loaded<Data> {
  const [state, setState] = useState<State<Data>>({ loading: true });
  const [round, setRound] = useState(0);
  useEffect(() => {
    const abort = new AbortController();
    setState((old) => ({ ...old, loading: true }));
    load(abort.signal).then(
      (data) => abort.signal.aborted || setState({ key, data, loading: false }),
      (error: Error) =>
        abort.signal.aborted || setState((old) => ({ ...(old.key === key && old), error, loading: false })),
    );
    return () => abort.abort();
    // `key` names everything that `load` depends on.
  }, [key, round]);
  const reload = useCallback(() => setRound((round) => round + 1), []);
  return { data: state.data, error: state.error, loading: state.loading, reload };
}
