/**
 * Settles as the promise does, or rejects with the signal's reason as soon as it is aborted. The work behind the
 * promise is not cancelled: a command to a Redis that is unreachable stays queued, but its caller can stop waiting.
 */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    if (signal.aborted) {
      // Nothing waits for its result any more; without a handler a rejection would end the process.
      promise.catch(() => {});
      onAbort();
      return;
    }
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** What works that go on side by side resolve to. If one fails, rejects as the first that failed, once all have ended. */
export async function allEnded<Works extends readonly Promise<unknown>[]>(
  ...works: Works
): Promise<{ -readonly [At in keyof Works]: Awaited<Works[At]> }> {
  await Promise.allSettled(works);
  return Promise.all(works);
}
