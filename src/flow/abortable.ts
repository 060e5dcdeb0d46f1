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
