import { setMaxListeners } from 'node:events';
import { Failure } from '../domain/failure.ts';

/** The two steps in which an interrupted command ends. */
export interface Interrupts {
  /** Aborted at the first SIGINT, SIGTERM or SIGHUP: start nothing new, finish and commit what is in flight. */
  readonly drain: AbortSignal;
  /** Aborted at the second signal, or when draining takes too long: abandon work in flight. */
  readonly stop: AbortSignal;
}

interface InterruptOptions {
  /** How long draining may take, in milliseconds; default: 10 s. */
  readonly drainMs?: number;
  /** Called at any further signal: the process must exit, whatever still runs. */
  readonly onKill: () => void;
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
type Signal = (typeof SIGNALS)[number];

/** The part of `process` that emits signals. */
interface SignalSource {
  on(signal: Signal, listener: () => void): unknown;
  off(signal: Signal, listener: () => void): unknown;
  listenerCount(signal: Signal): number;
}

/** How long work in flight may take when a command is interrupted, in milliseconds. */
export const DRAIN_MS = 10_000;

/**
 * One Ctrl-C can arrive twice: the terminal signals the whole process group, and npm forwards its own copy to the
 * script. Signals within this time, in milliseconds, count as one.
 */
const SAME_INTERRUPT_MS = 500;

/**
 * Listens for SIGINT, SIGTERM and SIGHUP until `end` is called; `end` is idempotent. The reason is a
 * Failure('interrupted'). SIGHUP is left to a command with its own listener for it, such as `guard`.
 */
export function watchInterrupts(
  source: SignalSource,
  { drainMs = DRAIN_MS, onKill }: InterruptOptions,
): Interrupts & { end(): void } {
  const drain = new AbortController();
  const stop = new AbortController();
  // All work in flight listens to them; Node would warn of a leak.
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
  const onHangUp = (): void => {
    if (source.listenerCount('SIGHUP') === 1) onSignal();
  };
  const listeners = { SIGINT: onSignal, SIGTERM: onSignal, SIGHUP: onHangUp };
  for (const signal of SIGNALS) source.on(signal, listeners[signal]);
  return {
    drain: drain.signal,
    stop: stop.signal,
    end: () => {
      clearTimeout(timer);
      for (const signal of SIGNALS) source.off(signal, listeners[signal]);
    },
  };
}
