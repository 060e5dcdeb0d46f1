import type { JSX } from 'preact';
import type { Decision } from '../../../src/domain/outcome.ts';
import type { ReportData, ScoreSpread } from '../../../src/report/html/report-data.ts';
import { histogram } from '../charts/histogram.ts';
import { categoryLabel, number } from '../format.ts';
import { Figure } from '../parts/figure.tsx';
import { Fold } from '../parts/section.tsx';
import { cell, Table } from '../parts/table.tsx';

const WIDTH = 340;
const HEIGHT = 150;
const DECISIONS: readonly Decision[] = ['block', 'review', 'allow'];

/** Distribution of the scores, with the thresholds of the policy. */
export function Scores({ data: { scores, summary } }: { readonly data: ReportData }): JSX.Element | null {
  if (summary.verdicts === 0) return null;
  const categories = scores.categories.filter(({ category }) => (summary.by_category[category] ?? 0) > 0);
  return (
    <Fold id="scores" title="Scores">
      <p class="note">{policyText(summary.policy.thresholds !== null)}</p>
      <h3>Overall score, by decision</h3>
      <div class="charts">
        {DECISIONS.filter((decision) => summary.by_decision[decision] > 0).map((decision) => (
          <Figure
            title={`${decision} (${number(summary.by_decision[decision])})`}
            name={decision}
            svg={histogram({
              ...{ bins: scores.decisions[decision], from: 0, to: 1, color: decision },
              ...{ marks: marksOf(scores), width: WIDTH, height: HEIGHT },
              label: `Verdicts with the decision ${decision}, by score.`,
            })}
          />
        ))}
      </div>
      <Bins scores={scores} />
      {categories.length > 0 && <h3>Scores of the categories</h3>}
      <div class="charts">
        {categories.map((each) => (
          <Figure
            title={`${categoryLabel(each.category)} (${number(sum(each.bins))})`}
            svg={histogram({
              ...{ bins: each.bins, from: 0, to: 1, color: 'accent', marks: marksOf(each) },
              ...{ width: WIDTH, height: HEIGHT },
              label: `Scores of the category ${each.category}.`,
            })}
          />
        ))}
      </div>
      {categories.length > 0 && <CategoryBins categories={categories} />}
    </Fold>
  );
}

function policyText(hasThresholds: boolean): string {
  return hasThresholds
    ? 'Dashed lines are the thresholds of the policy. A guard gives scores of categories only for what it flags.'
    : 'Without a policy file, what the guard flags is blocked: there are no thresholds to draw. A guard gives scores of categories only for what it flags.';
}

function marksOf({ review, block }: Pick<ScoreSpread, 'review' | 'block'>): { at: number; name: string }[] {
  const marks: { at: number; name: string }[] = [];
  if (review !== null) marks.push({ at: review, name: `review ${review}` });
  if (block !== null && block !== review) marks.push({ at: block, name: `block ${block}` });
  return marks;
}

function Bins({ scores }: { readonly scores: ScoreSpread }): JSX.Element {
  const tenths = DECISIONS.map((decision) => mergeBins(scores.decisions[decision], 10));
  return (
    <details>
      <summary>The numbers</summary>
      <Table
        caption="Verdicts by overall score"
        columns={[{ name: 'Score' }, ...DECISIONS.map((name) => ({ name, numeric: true }))]}
        rows={tenths[0]!.flatMap((_, bin) =>
          tenths.every((counts) => counts[bin] === 0)
            ? []
            : [
                [
                  cell(range(bin, 10), bin),
                  ...tenths.map((counts) => cell(number(counts[bin]!), counts[bin])),
                ],
              ],
        )}
      />
    </details>
  );
}

function CategoryBins({ categories }: Pick<ScoreSpread, 'categories'>): JSX.Element {
  const parts = 5;
  return (
    <details>
      <summary>The numbers</summary>
      <Table
        caption="Verdicts by score of each category"
        columns={[
          { name: 'Category' },
          ...Array.from({ length: parts }, (_, bin) => ({ name: range(bin, parts), numeric: true })),
        ]}
        rows={categories.map(({ category, bins }) => [
          cell(categoryLabel(category)),
          ...mergeBins(bins, parts).map((count) => cell(number(count), count)),
        ])}
      />
    </details>
  );
}

function range(bin: number, parts: number): string {
  return `${(bin / parts).toFixed(1)} to ${((bin + 1) / parts).toFixed(1)}`;
}

/** Merges neighboring bins into `parts` bins. */
function mergeBins(bins: readonly number[], parts: number): number[] {
  const size = bins.length / parts;
  return Array.from({ length: parts }, (_, part) => sum(bins.slice(part * size, (part + 1) * size)));
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}
