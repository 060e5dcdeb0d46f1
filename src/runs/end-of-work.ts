import { Failure } from '../domain/failure.ts';

/**
 * Why the work on a run ended. A wait that was aborted ends with an error of its own, whichever wait that was. And who
 * was overtaken reads what others write meanwhile, which may not fit what it knows: that it was overtaken is the reason.
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
