/**
 * Settles as the promise does, or rejects with the signal's reason as soon as it is aborted. The work behind the
 * promise is not cancelled: a command to an unreachable Redis stays queued, but its caller can stop waiting.
 */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    if (signal.aborted) {
      // Nothing waits for the result any more, and an unhandled rejection would end the process.
      promise.catch(() => {});
      onAbort();
      return;
    }
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/**
 * Awaits concurrent works and resolves to their results. If any fails, rejects with the first failure, but only once
 * all have ended.
 */
export async function allEnded<Works extends readonly Promise<unknown>[]>(
  ...works: Works
): Promise<{ -readonly [At in keyof Works]: Awaited<Works[At]> }> {
  await Promise.allSettled(works);
  return Promise.all(works);
}
