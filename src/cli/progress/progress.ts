import type { RunUi } from '../context.ts';
import { doneItems, progressLine, progressLines, type ProgressSnapshot } from './progress-lines.ts';

/** Throughput over the last few seconds, from readings of a counter. */
class RateWindow {
  readonly #windowMs: number;
  readonly #readings: { readonly atMs: number; readonly count: number }[] = [];

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  /** Adds a reading; `atMs` comes from a monotonic clock. */
  add(atMs: number, count: number): void {
    this.#readings.push({ atMs, count });
    // Keep the newest reading outside the window: the rate is measured from it.
    while (this.#readings.length > 2 && this.#readings[1]!.atMs <= atMs - this.#windowMs)
      this.#readings.shift();
  }

  /** Counts per second; null until there are two readings at different times. */
  perSecond(): number | null {
    const first = this.#readings[0];
    const last = this.#readings.at(-1);
    if (first === undefined || last === undefined || last.atMs <= first.atMs) return null;
    return ((last.count - first.count) * 1000) / (last.atMs - first.atMs);
  }
}

const TERMINAL_EVERY_MS = 200;
const PLAIN_EVERY_MS = 10_000;
const RATE_WINDOW_MS = 10_000;

export interface Progress {
  /** Writes a line to stderr without garbling the progress lines; nothing when quiet. */
  say(line: string): void;
  /** Ends the progress lines. Idempotent. */
  stop(): void;
}

/**
 * Shows the progress of a run on stderr: two lines rewritten in place five times a second on a terminal, a line every
 * 10 s elsewhere, nothing when quiet. Writes no colours.
 */
export function startProgress(
  ui: Pick<RunUi, 'stderr' | 'env' | 'quiet'>,
  snapshot: () => ProgressSnapshot,
): Progress {
  if (ui.quiet) return { say: () => {}, stop: () => {} };
  const terminal = ui.stderr.isTerminal && ui.env['TERM'] !== 'dumb';
  const rate = new RateWindow(RATE_WINDOW_MS);
  const read = (): ProgressSnapshot => {
    const current = snapshot();
    rate.add(performance.now(), doneItems(current));
    return current;
  };
  const draw = (): void => {
    const current = read();
    if (terminal) ui.stderr.redraw(progressLines(current, rate.perSecond(), ui.stderr.lineColumns));
    else ui.stderr.line(progressLine(current, rate.perSecond()));
  };
  read();
  const timer = setInterval(draw, terminal ? TERMINAL_EVERY_MS : PLAIN_EVERY_MS);
  timer.unref();
  let stopped = false;
  return {
    say: (line) => {
      const shown = terminal && !stopped;
      if (shown) ui.stderr.erase();
      ui.stderr.line(line);
      if (shown) draw();
    },
    stop: () => {
      if (stopped) return;
      stopped = true;
      clearInterval(timer);
      if (terminal) ui.stderr.erase();
    },
  };
}
