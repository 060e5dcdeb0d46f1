import { useEffect, useState } from 'preact/hooks';
import { ApiError } from './http.ts';

export interface Loaded<T> {
  /** The last answer. While `loading`, it belongs to the previous key. */
  readonly value: T | null;
  readonly error: ApiError | null;
  readonly loading: boolean;
}

/** Loads when the component appears and whenever `key` changes, and aborts outdated requests. */
export function useLoad<T>(key: string, load: (signal: AbortSignal) => Promise<T>): Loaded<T> {
  const [state, setState] = useState<{ key: string; value: T | null; error: ApiError | null }>({
    ...{ key: '', value: null, error: null },
  });
  useEffect(() => {
    const controller = new AbortController();
    load(controller.signal).then(
      (value) => setState({ key, value, error: null }),
      (error: unknown) => {
        if (controller.signal.aborted) return;
        if (!(error instanceof ApiError)) throw error;
        setState(({ value }) => ({ key, value, error }));
      },
    );
    return () => controller.abort();
  }, [key]);
  const loading = state.key !== key;
  return { value: state.value, error: loading ? null : state.error, loading };
}
