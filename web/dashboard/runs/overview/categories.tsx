import type { RunDetail } from '../../../../src/dashboard/api/runs.ts';
import { categoryLabel } from '../../item/words.ts';
import { count, formatCount } from '../../ui/format.ts';
import { UntrustedText } from '../../ui/untrusted-text.tsx';
import type { Summary } from './accounting.tsx';

/** Maximum categories outside the taxonomy to show by name. */
const MAX_ROWS = 30;

interface Row {
  readonly key: string;
  readonly label: string;
  readonly items: number;
}

interface Props {
  readonly summary: Pick<Summary, 'by_category' | 'without_category' | 'restricted'>;
  readonly decisions: RunDetail['by_decision'];
}

/** Flagged items by category, the most frequent first, and those without one. */
export function Categories({ summary, decisions }: Props) {
  const rows = rowsOf(summary);
  if (rows.length === 0) return null;
  const flagged = decisions === null ? null : decisions.review + decisions.block;
  const most = Math.max(...rows.map(({ items }) => items));
  return (
    <section class="card half" aria-labelledby="categories">
      <h2 id="categories">Categories</h2>
      <p class="hint">
        {flagged !== null && `Of ${formatCount(flagged, 'item')} to review or block. `}
        An item can be in several categories.
        {summary.restricted > 0 &&
          ` The content of ${formatCount(summary.restricted, 'item')} is restricted (restricted.csv lists them).`}
      </p>
      <table class="category-table">
        <caption class="hidden">Items by category</caption>
        <thead class="hidden">
          <tr>
            <th scope="col">Category</th>
            <th scope="col">Bar</th>
            <th scope="col">Items</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, label, items }) => (
            <tr key={key}>
              <th scope="row">
                <UntrustedText text={label} max={60} />
              </th>
              <td class="category-bar" aria-hidden="true">
                <div style={{ width: `${(100 * items) / most}%` }} />
              </td>
              <td class="align-end">{count(items)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function rowsOf({ by_category: byCategory, without_category: without }: Props['summary']): readonly Row[] {
  const named = Object.entries(byCategory)
    .map(([key, items]) => ({ key, label: categoryLabel(key), items }))
    .filter(({ items }) => items > 0)
    .sort((a, b) => b.items - a.items)
    .slice(0, MAX_ROWS);
  return without === 0 ? named : [...named, { key: '', label: 'No category', items: without }];
}
