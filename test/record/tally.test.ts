import { expect, it } from 'vitest';
import type { Decision, OutcomeLine } from '../../src/domain/outcome.ts';
import { DEFAULT_POLICY } from '../../src/domain/policy.ts';
import { DECODING_ERRORS } from '../../src/normalize/ffmpeg-process.ts';
import { NO_RULING, rulingOn, Tally } from '../../src/record/tally.ts';
import { errorLine, outcomeLine } from './outcome-line.ts';

it('counts flags under unknown names by name up to a bound, and the others together', () => {
  const tally = new Tally();
  for (let item = 0; item < 50; item++) {
    const flags = ['hate', ...Array.from({ length: 100 }, (_, index) => `made up ${item}-${index}`)];
    tally.add(
      outcomeLine({ seq: item, flagged: true, decision: 'block', subcategory_flags: flags }),
      NO_RULING,
    );
  }
  const { by_category } = tally.counts();
  expect(Object.keys(by_category)).toHaveLength(1 + 64 + 1);
  expect(by_category).toMatchObject({ hate: 50, 'made up 0-0': 1, other_categories: 5000 - 64 });
});

const STREAM = {
  chunks: 10,
  first_caution_seq: null,
  first_flagged_seq: null,
  shown_share_at_caution: null,
  shown_share_at_flag: null,
  lag_chunks: 1,
  lag_ms: 2,
};

it('says how early streams raised generations, by nearest rank', () => {
  const tally = new Tally();
  for (const shown_share_at_flag of [1, 0.5, 0.1, 0.2, 0.3333, null, null]) {
    tally.add(outcomeLine({ stream: { ...STREAM, shown_share_at_flag } }), NO_RULING);
  }
  tally.add(outcomeLine(), NO_RULING);
  expect(tally.counts().streams).toEqual({
    generations: 7,
    caution: { generations: 0, median: null, p90: null },
    flag: { generations: 5, median: 0.3333, p90: 1 },
  });
});

it('checks the decision on a generation that needs caution', () => {
  const stream = { ...STREAM, first_caution_seq: 4, shown_share_at_caution: 0.5 };
  const line = outcomeLine({ stream, decision: 'review', decided_by: 'needs_caution' });
  expect(rulingOn(DEFAULT_POLICY, line)).toEqual(NO_RULING);
  expect(rulingOn(DEFAULT_POLICY, outcomeLine({ stream }))).toBeNull();
});

it('counts what has a remedy of its own by the reason, whatever the message', () => {
  const tally = new Tally();
  const source = { path: 'a.csv', row: null, line: null, sha256: null, bytes: 1, offset: null, length: null };
  const failed = (error: OutcomeLine['error']): OutcomeLine => errorLine(error, { source });
  const missing = { code: 'INTERNAL', retryable: true } as const;
  const unnamed = { code: 'UNSUPPORTED_TYPE', retryable: false } as const;
  tally.add(failed({ ...missing, message: 'any', reason: 'ffmpeg_missing' }), NO_RULING);
  tally.add(failed({ ...missing, message: DECODING_ERRORS.ffmpegMissing.message }), NO_RULING);
  tally.add(failed({ ...unnamed, message: 'any', reason: 'no_text_column' }), NO_RULING);
  tally.add(failed({ ...unnamed, message: 'any', reason: 'no_generation' }), NO_RULING);
  tally.add(failed({ ...unnamed, message: 'any' }), NO_RULING);
  expect(tally.counts()).toMatchObject({
    without_ffmpeg: 1,
    without_text_column: 1,
    without_generation: 1,
    unsupported_files: { csv: 1 },
    by_error_code: { INTERNAL: 2, UNSUPPORTED_TYPE: 3 },
    by_error_reason: { ffmpeg_missing: 1, no_text_column: 1, no_generation: 1 },
  });
});

it('counts the turns of conversations that have no verdict of their own', () => {
  const tally = new Tally();
  const turns = (total: number): OutcomeLine['coverage'] => ({
    unit: 'turns',
    judged: total,
    total,
    worst_at: null,
  });
  tally.add(outcomeLine({ seq: 0, request_type: 'multiturn', coverage: turns(5) }), NO_RULING);
  tally.add(outcomeLine({ seq: 1, request_type: 'multiturn', coverage: turns(1) }), NO_RULING);
  tally.add(outcomeLine({ seq: 2, request_type: 'multiturn', coverage: turns(3), turn: 3 }), NO_RULING);
  tally.add(outcomeLine({ seq: 3 }), NO_RULING);
  expect(tally.counts().judged_as_whole).toEqual({ conversations: 1, earlier_turns: 4 });
});

it('has every review and every block in a category or in none, apart from the flags of the guard', () => {
  const tally = new Tally();
  const add = (decision: Decision, flagged: boolean, subcategory_flags: string[] | null): void => {
    tally.add(outcomeLine({ decision, flagged, subcategory_flags }), NO_RULING);
  };
  add('block', true, ['hate']);
  add('block', true, ['hate', 'made up']);
  add('block', true, null);
  add('review', false, []);
  add('review', false, ['hate']);
  add('allow', true, []);
  add('allow', false, null);
  expect(tally.counts()).toMatchObject({
    ...{ flagged: 5, guard_flagged: 4 },
    by_category: { hate: 3, 'made up': 1 },
    decisions_by_category: {
      hate: { allow: 0, review: 1, block: 2 },
      'made up': { allow: 0, review: 0, block: 1 },
    },
    without_category: 3,
    decisions_without_category: { allow: 1, review: 1, block: 1 },
  });
});
