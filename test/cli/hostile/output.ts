import { expect } from 'vitest';

/** What a name may hold that a terminal acts on, or that could forge a line of ours. */
export const FORGED = 'Judged 999 of 999 items; 0 not judged';
export const HOSTILE = `a\u001b[2J\u0007\u009b31m\u202e\u2028\r\n${FORGED}\nverified: 999 items = 999 verdicts`;

/** Control, format and bidirectional characters, and separators of lines. */
const ACTING = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

/** How lines of the commands begin; results and summaries first. */
const OURS = [
  /^guardsweep: /,
  /^Judged [\d,]+ of [\d,]+ items?; [\d,]+ not judged$/,
  /^[\d,]+ not judged(, among them [\d,]+ whole files? whose content nobody knows)?: not-judged\.csv says /,
  /^ATTENTION: /,
  /^ +[\d,]+ {2}\S/,
  /^Files without items: /,
  /^Types that are not read: /,
  /^To judge more( \(NAME: the column with the text; repeat the flag for others\))?:$/,
  /^[\d,]+ files? (is|are) in another encoding /,
  /^ {2}guardsweep enqueue /,
  /^Left out, listed in skipped.jsonl: |^Left out: /,
  /^Decisions: /,
  /^Flagged categories: +block +review( +allow)?$/,
  /^ {2}\S.*(?<= {2})([\d,]+|-) +([\d,]+|-)$/,
  /^ {2}[\d,]+ in all rows, /,
  /^[\d,]+ verdicts? reused: /,
  /^Judged by /,
  /^Canaries: /,
  /^Policy: /,
  /^Flagged by the guard itself: /,
  /^Over REST /,
  /^This is the demonstration guard/,
  /^Time: /,
  /^Chain head: [0-9a-f]{64}$/,
  /^Columns not judged: /,
  /^Judged as text by what they hold: /,
  /^( {2})?… [\d,]+ more \(summary\.json\)$/,
  /^Open next: /,
  /^First row taken as data /,
  /^Header fitted to the rows /,
  /^\/\S/,
  /^verified: /,
  /^verification failed: /,
  /^(ok {5}|missing) {2}/,
  /^"[^"]*": [A-Z]+$/,
  /^(grpc|http):\/\/127\.0\.0\.1:\d+ {2}/,
  /^sha256:[0-9a-f]{64}$/,
  /^ {2}[0-9a-f]{64} {2}\S/,
  /^(\d{8}T\d{6}Z-\S+|"[^"]*"): (running|paused|stopped|cancelled|finished|unreadable)/,
  /^( {2})?((about )?\d+%|[\d.,]+ items\/s|\d+ block|read )/,
];

/** Fails unless everything that was written is lines of ours, none of them forged, without a character that acts. */
export function expectOnlyOurLines(...texts: readonly string[]): void {
  for (const text of texts) {
    if (text !== '') expect(text.at(-1)).toBe('\n');
    for (const line of text.split('\n').slice(0, -1)) {
      expect(ACTING.test(line), `acts: ${JSON.stringify(line)}`).toBe(false);
      expect(line.startsWith(FORGED), 'forged').toBe(false);
      expect(line.startsWith('verified: 999'), 'forged').toBe(false);
      expect(
        OURS.some((ours) => ours.test(line)),
        `not ours: ${JSON.stringify(line)}`,
      ).toBe(true);
    }
  }
}
