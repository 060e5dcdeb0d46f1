import { expect } from 'vitest';

/** What a name may hold that a terminal acts on, or that could forge a line of ours. */
export const FORGED = 'Judged 999 of 999 items; 0 not judged';
export const HOSTILE = `a\u001b[2J\u0007\u009b31m\u202e\u2028\r\n${FORGED}\nverified: 999 items = 999 verdicts`;

/** Control, format and bidirectional characters, and separators of lines. */
const ACTING = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

/** Fails if anything that was written acts on a terminal, or is a line that a name forged. */
export function expectNothingForged(...texts: readonly string[]): void {
  for (const text of texts) {
    if (text !== '') expect(text.at(-1)).toBe('\n');
    for (const line of text.split('\n').slice(0, -1)) {
      expect(ACTING.test(line), `acts: ${JSON.stringify(line)}`).toBe(false);
      expect(line.startsWith(FORGED), 'forged').toBe(false);
      expect(line.startsWith('verified: 999'), 'forged').toBe(false);
    }
  }
}
