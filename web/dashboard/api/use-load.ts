import { useCallback, useEffect, useState } from 'preact/hooks';
import { ApiError } from './http.ts';

/** What is loaded: `value` stays while it is loaded again. */
export interface Loaded<T> {
  readonly value: T | null;
  readonly error: ApiError | null;
  readonly loading: boolean;
  readonly reload: () => void;
}

/** Loads when the component appears and whenever `key` changes, and aborts what is no longer wanted. */
export function useLoad<T>(key: string, load: (signal: AbortSignal) => Promise<T>): Loaded<T> {
  const [state, setState] = useState<{
    key: string;
    value: T | null;
    error: ApiError | null;
    loading: boolean;
  }>({ key, value: null, error: null, loading: true });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const controller = new AbortController();
    setState((before) => ({
      key,
      value: before.key === key ? before.value : null,
      error: null,
      loading: true,
    }));
    load(controller.signal).then(
      (value) => setState({ key, value, error: null, loading: false }),
      (error: unknown) => {
        if (controller.signal.aborted) return;
        if (!(error instanceof ApiError)) throw error;
        setState((before) => ({ ...before, error, loading: false }));
      },
    );
    return () => controller.abort();
  }, [key, turn]);
  const reload = useCallback(() => setTurn((before) => before + 1), []);
  const current = state.key === key;
  return {
    value: current ? state.value : null,
    error: current ? state.error : null,
    loading: state.loading || !current,
    reload,
  };
}
