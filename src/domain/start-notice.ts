import type { Say } from './say.ts';

/** Time after which a start reports what it is waiting for, in milliseconds. */
const SILENT_MS = 3000;

/**
 * Formats a duration for a message: in seconds below 2 minutes, in minutes below 2 hours, in hours below 2 days. `ms`
 * >= 0.
 */
export function formatDuration(ms: number): string {
  if (ms < 120_000) return `${Math.round(ms / 1000)} s`;
  if (ms < 7_200_000) return `${Math.round(ms / 60_000)} min`;
  return ms < 172_800_000 ? `${Math.round(ms / 360_000) / 10} h` : `${Math.round(ms / 8_640_000) / 10} d`;
}

interface StartWait {
  /** What the start is waiting for. */
  readonly subject: string;
  /** Timeout of the wait, in milliseconds. */
  readonly limitMs: number;
  /** Returns what is missing at the time of the message; null if nothing is. */
  readonly missing: () => string | null;
  readonly say: Say;
}

/**
 * Reports once what a start is waiting for if it takes more than a few seconds. Returns a function that cancels the
 * report.
 */
export function notifyWhenSlow({ subject, limitMs, missing, say }: StartWait): () => void {
  if (limitMs <= SILENT_MS) return () => {};
  const timer = setTimeout(() => {
    const what = missing();
    if (what === null) return;
    const message = `waiting for ${subject}, up to ${formatDuration(limitMs)}: ${what}`;
    say(message, { level: 'warn', event: 'waiting' });
  }, SILENT_MS);
  return () => clearTimeout(timer);
}
