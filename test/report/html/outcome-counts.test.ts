import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Database } from '../../../src/analysis/database.ts';
import { ScoreColumns } from '../../../src/analysis/score-columns.ts';
import { verdictsInTable } from '../../../src/analysis/verdict-columns.ts';
import type { OutcomeLine } from '../../../src/domain/outcome.ts';
import { DEFAULT_POLICY } from '../../../src/domain/policy.ts';
import { OutcomeCounts } from '../../../src/report/html/outcome-counts.ts';
import { writeVerdictTable } from '../../analysis/verdict-table.ts';
import { folderWith } from '../../helpers/cli.ts';
import { outcomeLine } from '../../record/outcome-line.ts';
import { rounds } from '../../helpers/rounds.ts';

const signal = new AbortController().signal;

/** Calls `check` with the counts of outcome lines. */
async function counting(
  lines: readonly OutcomeLine[],
  check: (counts: OutcomeCounts) => Promise<void>,
): Promise<void> {
  const dir = await folderWith({
    'verdicts.jsonl': lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
  });
  await writeVerdictTable(dir, DEFAULT_POLICY);
  const table = join(dir, 'verdicts.parquet');
  await Database.temporary(async (database) => {
    const scored = await ScoreColumns.of(database, table, [], signal);
    const sql = `SELECT *, ${scored.expressions.join(', ')} FROM ${verdictsInTable(table)}`;
    await database.load(`CREATE VIEW outcomes AS ${sql}`, [], signal);
    await check(new OutcomeCounts(database, scored, signal));
  });
}

const SOURCE = { row: 1, line: 2, sha256: null, bytes: null, offset: null, length: null };

const flagged = (seq: number, more: Partial<OutcomeLine> = {}): OutcomeLine =>
  outcomeLine({ seq, decision: 'block', score: 0.9, flagged: true, ...more });

it('counts a few corpora and categories by name, and the others together', async () => {
  const lines = Array.from({ length: 300 }, (_, seq) =>
    flagged(seq, {
      source: { ...SOURCE, path: `corpus-${seq}/a.txt` },
      subcategory_flags: [`category-${seq}`],
    }),
  );
  await counting(lines, async (counts) => {
    const corpora = await counts.corpora();
    expect([corpora.length, corpora[0], corpora.at(-1)]).toMatchObject([
      ...[100, { name: 'corpus-0', items: 1, block: 1 }, { name: null, items: 201 }],
    ]);
    const rows = await counts.categories();
    expect(rows).toHaveLength(21);
    expect(rows.reduce((sum, { block }) => sum + block, 0)).toBe(300);
  });
});

it('counts a verdict by its most probable category, and by all of them', async () => {
  const both = { subcategory_flags: ['hate', 'privacy', 'hate', 'openai/hate'] };
  const lines = [
    flagged(0, { ...both, subcategory_scores: { hate: 0.5, privacy: 0.6 } }),
    flagged(1, { ...both, subcategory_scores: { hate: 0.5, privacy: 0.4, 'openai/hate': 0.7 } }),
    flagged(2, { ...both, subcategory_scores: null, decision: 'allow' }),
    flagged(3, { subcategory_flags: null, subcategory_scores: null, decision: 'review' }),
    outcomeLine({ seq: 4, decision: 'allow', flagged: false, subcategory_flags: null }),
  ];
  await counting(lines, async (counts) => {
    const none = { block: 0, review: 0, allow: 0 };
    expect(await counts.categories()).toEqual([
      { ...none, category: 'hate', allow: 1, any: 3 },
      { ...none, category: 'privacy', block: 1, any: 3 },
      { ...none, category: 'openai/hate', block: 1, any: 3 },
      { ...none, category: null, review: 1, any: 1 },
    ]);
    const { categories } = await counts.scores(DEFAULT_POLICY);
    expect(categories.map(({ category, bins }) => [category, bins.findIndex(Boolean)])).toEqual([
      ['hate', 12],
      ['privacy', 10],
      ['openai/hate', 17],
    ]);
  });
});

it('counts what was judged here over time and by latency: no reused verdicts', async () => {
  const at = { moderated_at: '2026-11-21T02:00:00.000Z', latency_ms: 5 };
  const lines = [flagged(0, at), flagged(1, { ...at, reused_from: 'another' })];
  await counting(lines, async (counts) => {
    const rate = await counts.rate();
    expect(rate).toEqual({
      from: Date.parse(at.moderated_at),
      ...{ seconds: 1, bins: [{ verdicts: 1, flagged: 1, errors: 0 }] },
    });
    expect(await counts.modalities()).toMatchObject([{ items: 2, block: 2 }]);
  });
});

it('counts every outcome over time, in few bins, whatever the times', async () => {
  const ms = fc.oneof(
    fc.integer({ min: 0, max: 10_000_000 }),
    fc.integer({ min: 0, max: Date.parse('2100-01-01') }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(ms, { minLength: 1, maxLength: 60 }), (times) => {
      const lines = times.map((time, seq) => flagged(seq, { moderated_at: new Date(time).toISOString() }));
      return counting(lines, async (counts) => {
        const { from, seconds, bins } = (await counts.rate())!;
        expect(bins.length).toBeLessThanOrEqual(150);
        expect(bins.reduce((sum, { verdicts }) => sum + verdicts, 0)).toBe(times.length);
        for (const time of times) {
          expect(bins[Math.floor((time - from) / 1000 / seconds)]!.verdicts).toBeGreaterThan(0);
        }
      });
    }),
    { numRuns: rounds(25) },
  );
});
