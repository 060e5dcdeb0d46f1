import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { OutcomeLine } from '../../../src/domain/outcome.ts';
import { checkedLine } from '../../../src/report/html/tallies/checked-line.ts';
import { LatencyTally } from '../../../src/report/html/tallies/latency-tally.ts';
import { RateTally } from '../../../src/report/html/tallies/rate-tally.ts';
import { ReportTally } from '../../../src/report/html/tallies/report-tally.ts';
import { TopLines } from '../../../src/report/html/tallies/top-lines.ts';

/** An outcome line; what a test does not say is ordinary. */
function line(more: Partial<OutcomeLine> = {}): OutcomeLine {
  return {
    ...{ schema: 1, run: 'r', seq: 0, id: 'a' },
    source: { path: 'a.csv', row: 1, line: 2, sha256: null, bytes: null, offset: null, length: null },
    ...{ modality: 'text', request_type: 'prompt', content_sha256: 'a'.repeat(64), roles: null },
    ...{ turn: null, part: null, snippet: null },
    coverage: { unit: 'chars', judged: 5, total: 5, worst_at: null },
    ...{ status: 'ok', score: 0.9, flagged: true, subcategory_scores: null, subcategory_flags: null },
    ...{ decision: 'block', decided_by: 'flagged', same_as: null, fingerprint: null, endpoint: 'embedded:' },
    ...{ latency_ms: 5, attempts: 1, cache_usage: null, stream: null, reused_from: null, error: null },
    moderated_at: '2026-11-21T02:00:00.000Z',
    ...more,
  };
}

describe('the tallies of a report', () => {
  it('list and time what was judged here: no copies, and no verdicts of earlier runs among the slowest', () => {
    const tally = new ReportTally({ by: () => null });
    tally.add(line());
    tally.add(line({ seq: 1, same_as: 0 }));
    tally.add(line({ seq: 2, reused_from: 'another' }));
    expect(tally.severe.lines().map(({ seq }) => seq)).toEqual([0, 2]);
    expect(tally.slow.lines().map(({ seq }) => seq)).toEqual([0]);
    expect(tally.rate.result()!.bins).toEqual([{ verdicts: 1, flagged: 1, errors: 0 }]);
    expect(tally.groups.modalities()).toMatchObject([{ items: 3, block: 3 }]);
  });

  it('keep few names: of corpora, categories and errors', () => {
    const tally = new ReportTally({ by: () => null });
    for (let seq = 0; seq < 300; seq++) {
      const source = {
        path: `corpus-${seq}/a.txt`,
        row: null,
        line: null,
        sha256: null,
        bytes: null,
        offset: null,
        length: null,
      };
      tally.add(line({ seq, source, subcategory_flags: [`category-${seq}`] }));
    }
    const corpora = tally.groups.corpora();
    expect([corpora.length, corpora.at(-1)]).toMatchObject([100, { name: null, items: 201 }]);
    const rows = tally.categories.rows();
    expect(rows).toHaveLength(21);
    expect(rows.reduce((sum, { block }) => sum + block, 0)).toBe(300);
    expect(tally.severe.lines()).toHaveLength(20);
  });

  it('count every outcome over time, in few bins, whatever the times', () => {
    const ms = fc.oneof(
      fc.integer({ min: 0, max: 10_000_000 }),
      fc.integer({ min: 0, max: Date.parse('2100-01-01') }),
    );
    fc.assert(
      fc.property(fc.array(ms, { minLength: 1, maxLength: 60 }), (times) => {
        const tally = new RateTally();
        for (const at of times) tally.add(line({ moderated_at: new Date(at).toISOString() }));
        const { from, seconds, bins } = tally.result()!;
        expect(bins.length).toBeLessThanOrEqual(150);
        expect(bins.reduce((sum, { verdicts }) => sum + verdicts, 0)).toBe(times.length);
        for (const at of times) {
          expect(bins[Math.floor((at - from) / 1000 / seconds)]!.verdicts).toBeGreaterThan(0);
        }
      }),
    );
  });

  it('keep the same lines as sorting all of them would', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 9 })), (scores) => {
        const lines = scores.map((score, seq) => line({ seq, score }));
        const byScore = (a: OutcomeLine, b: OutcomeLine): number => b.score! - a.score!;
        const top = new TopLines(5, byScore);
        for (const each of lines) top.add(each);
        expect(top.lines()).toEqual(lines.toSorted(byScore).slice(0, 5));
      }),
    );
  });

  it('give quantiles of latency to about a tenth', () => {
    const tally = new LatencyTally();
    for (let ms = 1; ms <= 1000; ms++) tally.add(line({ latency_ms: ms }));
    const { p50, p95, max } = tally.latencyOf('embedded:', null)!;
    expect(Math.abs(p50 / 500 - 1)).toBeLessThan(0.11);
    expect(Math.abs(p95 / 950 - 1)).toBeLessThan(0.11);
    expect(max).toBe(1000);
  });

  it.each([
    ['no JSON', '{'],
    ['no object', 'null'],
    ['a score beyond 1', JSON.stringify(line({ score: 2 }))],
    ['an unknown decision', JSON.stringify({ ...line(), decision: 'constructor' })],
    ['an unknown category with a score', JSON.stringify({ ...line(), subcategory_scores: { x: 1 } })],
    ['flags that are no texts', JSON.stringify({ ...line(), subcategory_flags: [{}] })],
    ['a path that is no text', JSON.stringify({ ...line(), source: { path: {} } })],
  ])('refuse a line with %s', (_what, text) => {
    expect(() => checkedLine(text)).toThrow('verdicts.jsonl has a line that is no outcome');
    expect(checkedLine(JSON.stringify(line()))).toEqual(line());
  });
});
