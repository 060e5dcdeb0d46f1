import { expect, it } from 'vitest';
import type { OutcomeLine } from '../../src/domain/outcome.ts';
import { DEFAULT_POLICY } from '../../src/domain/policy.ts';
import { REFUSALS } from '../../src/normalize/audio/refusals.ts';
import { Tally } from '../../src/record/tally.ts';
import { outcomeLine } from './outcome-line.ts';

it('counts flags under unknown names by name up to a bound, and the others together', () => {
  const tally = new Tally(DEFAULT_POLICY);
  for (let item = 0; item < 50; item++) {
    const flags = ['hate', ...Array.from({ length: 100 }, (_, index) => `made up ${item}-${index}`)];
    tally.add(outcomeLine({ seq: item, flagged: true, decision: 'block', subcategory_flags: flags }));
  }
  const { by_category } = tally.counts();
  expect(Object.keys(by_category)).toHaveLength(1 + 20 + 1);
  expect(by_category).toMatchObject({ hate: 50, 'made up 0-0': 1, other_categories: 5000 - 20 });
});

it('counts what has a remedy of its own by the reason, whatever the message', () => {
  const tally = new Tally(DEFAULT_POLICY);
  const failed = (error: OutcomeLine['error']): OutcomeLine =>
    outcomeLine({
      source: { path: 'a.csv', row: null, line: null, sha256: null, bytes: 1 },
      status: 'error',
      score: null,
      flagged: null,
      decision: null,
      error,
    });
  const missing = { code: 'INTERNAL', retryable: true } as const;
  const unnamed = { code: 'UNSUPPORTED_TYPE', retryable: false } as const;
  tally.add(failed({ ...missing, message: 'any', reason: 'ffmpeg_missing' }));
  tally.add(failed({ ...missing, message: REFUSALS.ffmpegMissing.message }));
  tally.add(failed({ ...unnamed, message: 'any', reason: 'no_text_column' }));
  tally.add(failed({ ...unnamed, message: 'any' }));
  expect(tally.counts()).toMatchObject({
    without_ffmpeg: 1,
    without_text_column: 1,
    unsupported_files: { csv: 1 },
    by_error_code: { INTERNAL: 2, UNSUPPORTED_TYPE: 2 },
  });
});
