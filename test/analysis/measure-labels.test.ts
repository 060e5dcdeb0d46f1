import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Database } from '../../src/analysis/database.ts';
import { measureLabels, type AtThreshold } from '../../src/analysis/labels/measure-labels.ts';
import { ScoreColumns } from '../../src/analysis/score-columns.ts';
import { rounds } from '../helpers/rounds.ts';

const signal = new AbortController().signal;
const score = fc.constantFrom(0, 0.05, 0.15, 0.3, 0.42, 0.6, 0.95, 1);

/** Labelled items: what people say, the overall score (null: an error), and that for hate (null: none). */
const items = fc.array(
  fc.record({
    label: fc.boolean(),
    overall: fc.option(score),
    hate: fc.option(score),
    isAboutHate: fc.boolean(),
  }),
  { minLength: 1, maxLength: 30 },
);
const minimum = fc.option(fc.constantFrom(0, 0.25, 0.5, 0.75, 1));

/** What counting says of a threshold. */
function measure(of: readonly { label: boolean; score: number | null }[], threshold: number): AtThreshold {
  const found = of.filter((each) => each.score !== null && each.score >= threshold);
  const tp = found.filter(({ label }) => label).length;
  const fp = found.length - tp;
  const positive = of.filter(({ label }) => label).length;
  const ratio = (part: number, whole: number): number | null => (whole === 0 ? null : part / whole);
  return {
    ...{ threshold, true_positives: tp, false_positives: fp },
    ...{ precision: ratio(tp, tp + fp), recall: ratio(tp, positive), f1: ratio(2 * tp, tp + fp + positive) },
  };
}

test('precision, recall and F1 are what counting gives, and the best thresholds those that trying each score finds', async () => {
  const scored = ScoreColumns.ofTaxonomy([]);
  const numberOf = (value: number | null): number => value ?? -1;
  await Database.temporary(async (database) => {
    await fc.assert(
      fc.asyncProperty(items, minimum, minimum, async (given, precision, recall) => {
        const rows = given.map(({ overall, hate }, seq) => {
          const scores = scored.names.map((name) => (name === 'hate' ? numberOf(hate) : -1));
          return `(${[seq, `'r${seq}'`, overall === null ? -1 : 0, numberOf(overall), ...scores].join(', ')})`;
        });
        const columns = ['seq', 'id', 'before', 'score', ...scored.columns];
        await database.load(
          `DROP TABLE IF EXISTS labels; DROP TABLE IF EXISTS matched;
           CREATE OR REPLACE TABLE outcomes AS SELECT *, NULL::VARCHAR AS part, NULL::VARCHAR AS content_sha256
           FROM (VALUES ${rows.join(', ')}) AS given(${columns.join(', ')})`,
          [],
          signal,
        );
        await rm(join(database.folder, 'labels.jsonl'), { force: true });
        const labels = given.map(({ label, isAboutHate }, seq) => ({
          ...{ id: `r${seq}`, content_sha256: null, part: null, label },
          category: isAboutHate ? ('hate' as const) : null,
        }));
        const result = await measureLabels(database, { labels, scored }, { precision, recall }, signal);
        expect(result.without_verdict).toBe(given.filter(({ overall }) => overall === null).length);
        for (const { score: name, curve, best_f1, wanted } of result.scores) {
          const of = given
            .filter(({ overall, isAboutHate }) => overall !== null && isAboutHate === (name === 'hate'))
            .map(({ label, overall, hate }) => ({ label, score: name === 'hate' ? hate : overall }));
          expect(curve).toEqual(Array.from({ length: 19 }, (_, index) => measure(of, (index + 1) / 20)));
          const all = [...new Set(of.flatMap((each) => each.score ?? []))].map((each) => measure(of, each));
          const best = (from: readonly AtThreshold[]): AtThreshold | null =>
            from.toSorted(
              (a, b) => b.f1! - a.f1! || b.precision! - a.precision! || b.threshold - a.threshold,
            )[0] ?? null;
          expect(best_f1).toEqual(best(all));
          const reaching = all.filter(
            (each) =>
              each.precision! >= (precision ?? 0) && each.recall !== null && each.recall >= (recall ?? 0),
          );
          expect(wanted).toEqual(precision === null && recall === null ? null : best(reaching));
        }
      }),
      { numRuns: rounds(30) },
    );
  });
});
