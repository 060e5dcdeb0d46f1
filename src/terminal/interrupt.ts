import { setMaxListeners } from 'node:events';
import { Failure } from '../domain/failure.ts';

/** What an interrupted command does, in two steps. */
export interface Interrupts {
  /** Aborts at the first SIGINT or SIGTERM: begin nothing new, finish and commit what is in flight. */
  readonly drain: AbortSignal;
  /** Aborts at the second one, or when draining takes too long: give up what is in flight. */
  readonly stop: AbortSignal;
}

export interface InterruptOptions {
  /** How long draining may take, in milliseconds; 10 s. */
  readonly drainMs?: number;
  /** Called at a signal that comes after that: the process is to end whatever still runs. */
  readonly onKill: () => void;
}

/** Where signals come from: the process. */
export interface SignalSource {
  on(signal: 'SIGINT' | 'SIGTERM', listener: () => void): unknown;
  off(signal: 'SIGINT' | 'SIGTERM', listener: () => void): unknown;
}

const DRAIN_MS = 10_000;

/**
 * One Ctrl-C can arrive twice: the terminal sends it to the whole process group, and npm passes its own copy on to
 * the script it runs. Signals this close together, in milliseconds, are one.
 */
const SAME_INTERRUPT_MS = 500;

/**
 * Listens for SIGINT and SIGTERM until `end` is called, which may be done twice. Both signals abort with
 * Failure('interrupted') as reason.
 */
export function watchInterrupts(
  source: SignalSource,
  { drainMs = DRAIN_MS, onKill }: InterruptOptions,
): Interrupts & { end(): void } {
  const drain = new AbortController();
  const stop = new AbortController();
  // Everything in flight listens to them, which Node would take for a leak.
  setMaxListeners(0, drain.signal, stop.signal);
  let lastAt = -Infinity;
  let timer: NodeJS.Timeout | undefined;

  const giveUp = (): void => {
    if (stop.signal.aborted) return;
    clearTimeout(timer);
    stop.abort(new Failure('interrupted', 'interrupted before everything in flight was finished'));
  };
  const onSignal = (): void => {
    const now = performance.now();
    if (now - lastAt < SAME_INTERRUPT_MS) return;
    lastAt = now;
    if (stop.signal.aborted) onKill();
    else if (drain.signal.aborted) giveUp();
    else {
      timer = setTimeout(giveUp, drainMs);
      timer.unref();
      drain.abort(new Failure('interrupted', 'interrupted'));
    }
  };
  source.on('SIGINT', onSignal);
  source.on('SIGTERM', onSignal);
  return {
    drain: drain.signal,
    stop: stop.signal,
    end: () => {
      clearTimeout(timer);
      source.off('SIGINT', onSignal);
      source.off('SIGTERM', onSignal);
    },
  };
}
