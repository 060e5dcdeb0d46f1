import { describe, expect, it } from 'vitest';
import { ITEM_CODES, ITEM_ERROR_REASONS } from '../../../src/domain/item-error.ts';
import { ITEM_ADVICE, REASON_ADVICE } from '../../../src/domain/words/item-advice.ts';
import { displayWidth } from '../../../src/domain/text/characters.ts';
import type { Summary } from '../../../src/record/summary/summary.ts';
import { summaryLines } from '../../../src/record/summary/summary-text.ts';
import { summaryOf } from './summary-of.ts';

const SUMMARY = summaryOf({
  items: 12_345,
  verdicts: 12_340,
  errors: 5,
  flagged: 40,
  guard_flagged: 38,
  by_decision: { allow: 12_300, review: 10, block: 30 },
  by_category: { violent_crimes: 4, hate: 31 },
  decisions_by_category: {
    violent_crimes: { allow: 0, review: 2, block: 2 },
    hate: { allow: 0, review: 1, block: 30 },
  },
  without_category: 7,
  decisions_without_category: { allow: 0, review: 7, block: 0 },
  by_error_code: { MALFORMED_ROW: 3, TIMEOUT: 2 },
  guards: [{ endpoint: 'grpc://gpu-1:8001', kind: 'triton', fingerprint: 'sha256:aa', verdicts: 12_340 }],
  seconds: 125.5,
  skipped: { 'earlier runs': 9 },
});

const summaryText = (summary: Summary): string => summaryLines(summary).join('\n');

describe('the summary for people', () => {
  it('says first what was judged, then what was not and what to do about it', () => {
    expect(summaryText(SUMMARY)).toBe(
      [
        'Judged 12,340 of 12,345 items; 5 not judged',
        '        3  broken rows: correct them (MALFORMED_ROW)',
        '        2  took too long: retry (TIMEOUT)',
        'Left out, listed in skipped.jsonl: earlier runs (9)',
        'Decisions: 30 block, 10 review, 12,300 allow',
        'Flagged categories:  block  review',
        '  Hate                  30       1',
        '  Violent Crimes         2       2',
        '  no category            0       7',
        '  42 in all rows, 40 items: an item may be in several rows',
        'Policy: what the guard flags is blocked',
        'Flagged by the guard itself: 38',
        'Judged by grpc://gpu-1:8001, sha256:aa (12,340 verdicts)',
        'Canaries: off; no guard had to prove that it judges',
        `Chain head: ${'c'.repeat(64)}`,
        'Time: 2 min 5 s, 98 items/s',
      ].join('\n'),
    );
  });

  it('has advice for every code and every cause, in a line and in full', () => {
    for (const code of ITEM_CODES) {
      expect(summaryText({ ...SUMMARY, by_error_code: { [code]: 1 } })).toContain(`(${code})`);
    }
    const advice = [...Object.values(ITEM_ADVICE), ...Object.values(REASON_ADVICE)];
    for (const { brief, full } of advice) {
      expect(displayWidth(brief)).toBeLessThanOrEqual(48);
      expect(full).toMatch(/\w/);
    }
    expect(Object.keys(REASON_ADVICE)).toEqual(expect.arrayContaining([...ITEM_ERROR_REASONS]));
  });

  it('bounds what names can fill it with, and quotes what is no plain name', () => {
    const lines = summaryLines({
      ...SUMMARY,
      skipped: Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`${'x'.repeat(1000)}${at}`, 1])),
      by_category: { 'Judged 999 of 999 items': 1 },
      decisions_by_category: { 'Judged 999 of 999 items': { block: 1, review: 0, allow: 0 } },
      empty_sources: { count: 1, paths: ['a\u001b b'] },
    });
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(120);
    expect(lines).toContain('  "Judged 999 of 999 items"      1       0');
    expect(lines).toContain('Files without items: "a\\x1b b"');
  });
});
