import { Failure } from '../domain/failure.ts';

/**
 * Returns why the work on a run ended. An aborted wait rejects with its own error, so this returns the signal's reason
 * instead. A superseded process may read inconsistent data that another one writes: the reason is then that it was
 * superseded.
 */
export async function endOf(
  error: unknown,
  signals: readonly AbortSignal[],
  assertCurrent: () => Promise<void>,
): Promise<unknown> {
  if (error instanceof Failure && error.kind !== 'internal') return error;
  if (isAbort(error)) {
    const aborted = signals.find((signal) => signal.aborted);
    if (aborted !== undefined) {
      return aborted.reason instanceof Failure
        ? aborted.reason
        : new Failure('interrupted', 'interrupted', { cause: error });
    }
  }
  try {
    await assertCurrent();
    return error;
  } catch (overtaken) {
    return overtaken instanceof Failure ? overtaken : error;
  }
}

const isAbort = (error: unknown): boolean => error instanceof Error && error.name === 'AbortError';
