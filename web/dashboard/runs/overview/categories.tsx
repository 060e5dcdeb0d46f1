import type { RunDetail } from '../../../../src/dashboard/api/runs.ts';
import { categoryLabel } from '../../item/words.ts';
import { count, formatCount, percent } from '../../ui/format.ts';
import { DataTable } from '../../ui/data-table.tsx';
import { UntrustedText } from '../../ui/untrusted-text.tsx';
import type { Summary } from './accounting.tsx';

/** Categories outside the taxonomy that are shown by name. */
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
    <section class="stack" aria-labelledby="categories">
      <h2 id="categories">Categories</h2>
      <p class="muted">
        {flagged !== null && `Of ${formatCount(flagged, 'item')} to review or block. `}
        An item can be in several categories.
        {summary.restricted > 0 &&
          ` The content of ${formatCount(summary.restricted, 'item')} is restricted (restricted.csv lists them).`}
      </p>
      <DataTable
        caption="Items by category"
        captionHidden
        rows={rows}
        rowKey={({ key }) => key}
        columns={[
          { key: 'label', header: 'Category', cell: ({ label }) => <UntrustedText text={label} max={60} /> },
          {
            key: 'bar',
            header: <span class="hidden">Share</span>,
            wideOnly: true,
            cell: ({ items }) => (
              <div class="category-bar" aria-hidden="true">
                <div style={{ width: `${(100 * items) / most}%` }} />
              </div>
            ),
          },
          { key: 'items', header: 'Items', align: 'end', cell: ({ items }) => count(items) },
          {
            key: 'share',
            header: 'Of flagged',
            align: 'end',
            cell: ({ items }) => (flagged === null ? '–' : percent(items, flagged)),
          },
        ]}
      />
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
