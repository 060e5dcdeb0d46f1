import { Failure } from '../domain/failure.ts';

/**
 * Why the work on a run ended. An aborted wait rejects with an error of its own, for which the signal's reason stands. A
 * process that was superseded reads what another one writes, which may not fit what it knows: then the reason is that it
 * was superseded.
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
