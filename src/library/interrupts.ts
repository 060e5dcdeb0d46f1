import { setMaxListeners } from 'node:events';
import { Failure } from '../domain/failure.ts';
import { DRAIN_MS, type Interrupts } from '../terminal/interrupt.ts';

/** Turns one signal into the two steps in which a run ends: it drains for at most 10 s, then stops. `end` lets go of it. */
export function interruptsOf(signal: AbortSignal | undefined): Interrupts & { end(): void } {
  const drain = new AbortController();
  const stop = new AbortController();
  // Everything in flight listens to them; Node would warn of a leak.
  setMaxListeners(0, drain.signal, stop.signal);
  let timer: NodeJS.Timeout | undefined;
  const begin = (): void => {
    const late = new Failure('interrupted', 'interrupted before everything in flight was finished');
    timer = setTimeout(() => stop.abort(late), DRAIN_MS);
    drain.abort(new Failure('interrupted', 'interrupted'));
  };
  if (signal?.aborted === true) begin();
  else signal?.addEventListener('abort', begin, { once: true });
  return {
    drain: drain.signal,
    stop: stop.signal,
    end: () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', begin);
    },
  };
}
