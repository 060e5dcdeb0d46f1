import { DEFAULT_POLICY } from '../../../src/domain/policy.ts';
import { ITEM_CODES } from '../../../src/domain/item-error.ts';
import { CATEGORY_KEYS } from '../../../src/domain/taxonomy.ts';
import { ITEM_ADVICE } from '../../../src/domain/words/item-advice.ts';
import type { ReportData, ReportItem } from '../../../src/report/html/report-data.ts';
import { summaryOf } from '../../record/summary/summary-of.ts';

interface SampleOptions {
  /** Every string that a record of somebody else could hold; numbered. */
  readonly text?: (index: number) => string;
  /** All counts are multiplied by this. */
  readonly scale?: number;
}

/** A report with something in each of its places. */
export function sampleReport({
  text = (index) => `text-${index}`,
  scale = 1,
}: SampleOptions = {}): ReportData {
  let texts = 0;
  const next = (): string => text(texts++);
  const item = (seq: number): ReportItem => ({
    seq,
    id: next(),
    path: next(),
    row: seq * scale,
    part: next(),
    turn: 2,
    modality: 'text',
    decision: 'block',
    score: 0.93,
    categories: ['hate', next()],
    latencyMs: 19.2,
    error: next(),
    file: 'file:///tmp/uploads/a.csv',
  });
  const items = (count: number): ReportItem[] => Array.from({ length: count }, (_, seq) => item(seq));
  const summary = summaryOf({
    run: next(),
    dir: next(),
    pass: 2,
    seconds: 12.5 * scale,
    trial: { limit: null, sample: 0.1, seed: 0, records_read: 100 * scale, records_not_selected: 90 * scale },
    policy: { ...DEFAULT_POLICY, thresholds: { default: { review: 0.5, block: 0.8 } } },
    items: 10 * scale,
    verdicts: 8 * scale,
    errors: 2 * scale,
    flagged: 3 * scale,
    guard_flagged: 3 * scale,
    by_decision: { allow: 5 * scale, review: scale, block: 2 * scale },
    by_category: { hate: 2 * scale, [next()]: scale },
    restricted: 1,
    without_category: scale,
    partial: scale,
    judged_as_whole: { conversations: scale, earlier_turns: 3 * scale },
    by_error_code: { TIMEOUT: 2 * scale },
    by_modality: { text: 10 * scale },
    unsupported_files: { [next()]: scale },
    guards: [{ endpoint: next(), kind: 'embedded', fingerprint: next(), verdicts: 8 * scale }],
    reused: scale,
    skipped: { [next()]: 3 * scale },
    empty_sources: { count: 2, paths: [next(), next()] },
    chain_head: next(),
  });
  const bins = (length: number): number[] =>
    Array.from({ length }, (_, bin) => Math.round(scale * 3 * Math.exp(-bin / 4)));
  const thresholds = { review: 0.5, block: 0.8 };
  const group = { items: 10 * scale, allow: 5 * scale, review: scale, block: 2 * scale, errors: 2 * scale };
  const flagged = { block: scale, review: 0, allow: 0, any: scale };
  return {
    run: next(),
    name: next(),
    version: next(),
    dir: next(),
    createdAt: '2026-11-21T02:00:00.000Z',
    finishedAt: '2026-11-21T02:10:00.000Z',
    madeAt: '2026-11-21T02:10:01.000Z',
    manifestSha256: 'a'.repeat(64),
    summary,
    reviews: { flagged: scale, reviewed: 2 * scale, overturned: scale, reopened: scale, fresh: 2 * scale },
    trial: 'TRIAL: only some',
    commands: { resume: next(), retry: next(), serve: next(), verify: next(), again: next() },
    gates: [
      { text: 'flaggedRate tripped: 0.375 is above 0.1', tripped: true },
      { text: 'errorRate passed', tripped: false },
    ],
    canaries: 'Canaries: 7 of 7 as expected in 1 check',
    categories: ['hate', next(), null].map((category) => ({ category, ...flagged })),
    corpora: [next(), next(), null].map((name) => ({ name, ...group, partial: 0 })),
    modalities: [{ name: 'text', ...group, partial: scale }],
    scores: {
      decisions: { allow: bins(50), review: bins(50), block: bins(50) },
      categories: CATEGORY_KEYS.map((category) => ({ category, bins: bins(25), ...thresholds })),
      ...thresholds,
    },
    notJudged: ITEM_CODES.map((code) => ({
      code,
      reason: code === 'UNSUPPORTED_TYPE' ? 'file_type' : null,
      items: 9 * scale,
      retryable: true,
      ...ITEM_ADVICE[code],
      files: items(5).map((one) => ({ item: one, items: scale, advice: next() })),
    })),
    coverage: [
      { unit: 'chars', items: 8 * scale, partial: 1, inParts: 2, judged: 90 * scale, total: 100 * scale },
    ],
    guards: [
      {
        endpoint: next(),
        kind: 'triton',
        fingerprint: next(),
        verdicts: 8 * scale,
        latency: { p50: 12, p95: 80.5, max: 12_345 },
      },
    ],
    fingerprints: [{ id: next(), artifacts: { [next()]: 'b'.repeat(64) } }],
    rate: {
      from: Date.parse('2026-11-21T02:00:00Z'),
      seconds: 60,
      bins: bins(140).map((count) => ({ verdicts: count, flagged: Math.round(count / 3), errors: 1 })),
    },
    severe: items(25),
    slow: items(20),
    previous: {
      run: next(),
      createdAt: '2026-11-20T02:00:00.000Z',
      counts: { ...summary, fingerprints: [next()] },
      changes: {
        pairs: 9 * scale,
        onlyBefore: 1,
        onlyNow: scale,
        meanShift: -0.012,
        decisions: [{ before: 'allow', now: 'block', items: 2 }],
      },
    },
    files: [{ name: next(), url: 'file:///tmp/runs/verdicts.jsonl' }],
  };
}
