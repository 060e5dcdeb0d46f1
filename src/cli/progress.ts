import type { RunUi } from './context.ts';
import { progressLine, type ProgressSnapshot } from './progress-line.ts';
import { RateWindow } from './rate-window.ts';

const TERMINAL_EVERY_MS = 200;
const PLAIN_EVERY_MS = 10_000;
const RATE_WINDOW_MS = 10_000;
const DEFAULT_COLUMNS = 80;

/** Back to the first column, and erase the line. */
const CLEAR_LINE = '\r\u001b[2K';

export interface Progress {
  /** Writes a line of its own to stderr without mixing with the progress line; nothing when quiet. */
  say(line: string): void;
  /** Ends the progress line; may be called twice. */
  stop(): void;
}

/**
 * Shows on stderr how far a run is: on a terminal one line rewritten in place five times a second, elsewhere a line
 * every 10 s, nothing when quiet. Writes no colours.
 */
export function startProgress(
  ui: Pick<RunUi, 'stderr' | 'env' | 'quiet'>,
  snapshot: () => ProgressSnapshot,
): Progress {
  if (ui.quiet) return { say: () => {}, stop: () => {} };
  const terminal = ui.stderr.isTTY === true && ui.env['TERM'] !== 'dumb';
  const rate = new RateWindow(RATE_WINDOW_MS);
  const read = (): string => {
    const current = snapshot();
    rate.add(performance.now(), current.judged + current.errors);
    return progressLine(current, rate.perSecond());
  };
  const draw = (): void => {
    const line = read();
    // A line that wraps cannot be erased.
    const width = (ui.stderr.columns ?? DEFAULT_COLUMNS) - 1;
    ui.stderr.write(terminal ? `${CLEAR_LINE}${line.slice(0, width)}` : `${line}\n`);
  };
  read();
  const timer = setInterval(draw, terminal ? TERMINAL_EVERY_MS : PLAIN_EVERY_MS);
  timer.unref();
  let stopped = false;
  return {
    say: (line) => {
      ui.stderr.write(terminal && !stopped ? `${CLEAR_LINE}${line}\n` : `${line}\n`);
      if (terminal && !stopped) draw();
    },
    stop: () => {
      if (stopped) return;
      stopped = true;
      clearInterval(timer);
      if (terminal) ui.stderr.write(CLEAR_LINE);
    },
  };
}
