import { signal, type ReadonlySignal } from '@preact/signals';
import { useCallback, useEffect, useState } from 'preact/hooks';
import { ApiError, request } from './http.ts';

const ASK_EVERY_MS = 2000;

const reachableNow = signal(true);

/** Whether the server answered the last polling request. */
export const reachable: ReadonlySignal<boolean> = reachableNow;

export interface Polled<T> {
  /** The last answer. Kept while the server cannot be reached. */
  readonly value: T | null;
  readonly error: ApiError | null;
  /** Polls immediately. */
  readonly reload: () => void;
}

/**
 * Polls every two seconds while the component exists and the page is visible. An unchanged answer is not sent again.
 */
export function usePoll<T>(path: string): Polled<T> {
  const [state, setState] = useState<Omit<Polled<T>, 'reload'>>({ value: null, error: null });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    let etag: string | null = null;
    let timer = 0;
    let asking = false;
    const ask = async (): Promise<void> => {
      clearTimeout(timer);
      if (asking || document.hidden) return;
      asking = true;
      try {
        const answer = await request(path, { signal: stop.signal, etag });
        reachableNow.value = true;
        if (answer.status === 304) {
          setState((before) => (before.error === null ? before : { ...before, error: null }));
        } else {
          etag = answer.headers.get('etag');
          setState({ value: (await answer.json()) as T, error: null });
        }
      } catch (error) {
        if (stop.signal.aborted) return;
        if (!(error instanceof ApiError)) throw error;
        reachableNow.value = error.status > 0;
        setState(({ value }) => ({ value, error: error.status > 0 || value === null ? error : null }));
      }
      asking = false;
      timer = window.setTimeout(() => void ask(), ASK_EVERY_MS);
    };
    const whenVisible = (): void => void ask();
    document.addEventListener('visibilitychange', whenVisible);
    void ask();
    return () => {
      stop.abort();
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', whenVisible);
    };
  }, [path, turn]);
  const reload = useCallback(() => setTurn((before) => before + 1), []);
  return { ...state, reload };
}
