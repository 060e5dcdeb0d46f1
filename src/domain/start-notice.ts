/** After so long a start says what it waits for, in milliseconds. */
const SILENT_MS = 3000;

/**
 * A duration for a message: in seconds, from two minutes on in minutes, from two hours on in hours.
 * `ms`: milliseconds, 0 or more.
 */
export function shownDuration(ms: number): string {
  if (ms < 120_000) return `${Math.round(ms / 1000)} s`;
  return ms < 7_200_000 ? `${Math.round(ms / 60_000)} min` : `${Math.round(ms / 360_000) / 10} h`;
}

interface StartWait {
  /** What is waited for. */
  readonly subject: string;
  /** How long at most, in milliseconds. */
  readonly limitMs: number;
  /** What is missing, asked when it is said; null when nothing is. */
  readonly missing: () => string | null;
  /** Takes one line for people. */
  readonly say: (message: string) => void;
}

/** Says once what a start waits for, when that takes more than a few seconds. Returns the function that ends it. */
export function sayWhenSlow({ subject, limitMs, missing, say }: StartWait): () => void {
  if (limitMs <= SILENT_MS) return () => {};
  const timer = setTimeout(() => {
    const what = missing();
    if (what !== null) say(`waiting for ${subject}, up to ${shownDuration(limitMs)}: ${what}`);
  }, SILENT_MS);
  return () => clearTimeout(timer);
}
