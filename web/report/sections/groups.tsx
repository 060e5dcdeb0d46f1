import type { JSX } from 'preact';
import type { CategoryRow, GroupRow, ReportData } from '../../../src/report/html/report-data.ts';
import { categoryLabel, number, percent } from '../format.ts';
import { Name } from '../parts/name.tsx';
import { Fold } from '../parts/section.tsx';
import { ShareBar } from '../parts/share-bar.tsx';
import { cell, Table, type Cell } from '../parts/table.tsx';

/** All flagged items by category. */
export function Categories({
  data: { categories, summary },
}: {
  readonly data: ReportData;
}): JSX.Element | null {
  if (categories.length === 0) return null;
  const { items } = summary;
  const most = Math.max(...categories.map(({ block, review, allow }) => block + review + allow));
  const rows = byNumber(categories).map(({ category, block, review, allow, any }) => [
    cell(category === null ? 'No category' : <Name text={categoryLabel(category)} />),
    cell(<ShareBar whole={most} parts={decisionParts({ block, review, allow })} />, block + review + allow),
    ...[block, review, allow].map(count),
    cell(percent(block + review + allow, items), block + review + allow),
    count(any),
  ]);
  return (
    <Fold id="categories" title="Categories">
      <Table
        caption="Flagged verdicts by main category"
        columns={[
          { name: 'Category' },
          { name: 'Share' },
          { name: 'Block', numeric: true },
          { name: 'Review', numeric: true },
          { name: 'Allow', numeric: true },
          { name: 'Of all items', numeric: true },
          { name: 'With others', numeric: true },
        ]}
        rows={rows}
      />
      <p class="note">
        Each verdict that the guard flagged, or that is review or block, counts once, under its most probable
        flagged category. “Allow”: flagged by the guard, allowed by the policy. “With others” counts a verdict
        under each of its categories.
      </p>
    </Fold>
  );
}

/** The most frequent first, rows without a category last. */
function byNumber(rows: readonly CategoryRow[]): CategoryRow[] {
  const flagged = ({ block, review, allow }: CategoryRow): number => block + review + allow;
  return rows.toSorted(
    (a, b) =>
      Number(a.category === null) - Number(b.category === null) || flagged(b) - flagged(a) || b.any - a.any,
  );
}

/** Outcomes by corpus or modality; percentages are of the items in the row. */
export function Groups({
  title,
  first,
  rows,
}: {
  readonly title: string;
  readonly first: string;
  readonly rows: readonly GroupRow[];
}): JSX.Element | null {
  if (rows.length === 0) return null;
  const cells = (row: GroupRow, name: JSX.Element | string): Cell[] => {
    const { items, allow, review, block, errors, partial } = row;
    const share = items === 0 ? -1 : (review + block) / items;
    return [
      cell(name),
      cell(
        <ShareBar whole={items} parts={[...decisionParts(row), { kind: 'unjudged', count: errors }]} />,
        share,
      ),
      count(items),
      count(block),
      count(review),
      count(allow),
      count(errors),
      cell(percent(review + block, items), share),
      count(partial),
    ];
  };
  const total = rows.reduce((sum, row) => ({
    name: null,
    items: sum.items + row.items,
    allow: sum.allow + row.allow,
    review: sum.review + row.review,
    block: sum.block + row.block,
    errors: sum.errors + row.errors,
    partial: sum.partial + row.partial,
  }));
  return (
    <>
      <h3>{title}</h3>
      <Table
        caption={`Outcomes ${title.toLowerCase()}`}
        columns={[
          { name: first },
          { name: 'Share' },
          { name: 'Items', numeric: true },
          { name: 'Block', numeric: true },
          { name: 'Review', numeric: true },
          { name: 'Allow', numeric: true },
          { name: 'Not judged', numeric: true },
          { name: 'Flagged, of its items', numeric: true },
          { name: 'In part', numeric: true },
        ]}
        rows={rows.map((row) => cells(row, row.name === null ? 'All others' : <Name text={row.name} />))}
        total={cells(total, 'All with an outcome')}
      />
    </>
  );
}

function count(value: number): Cell {
  return cell(number(value), value);
}

function decisionParts(
  counts: Pick<GroupRow, 'block' | 'review' | 'allow'>,
): { kind: 'block' | 'review' | 'allow'; count: number }[] {
  return (['block', 'review', 'allow'] as const).map((kind) => ({ kind, count: counts[kind] }));
}
