import type { JSX } from 'preact';
import type { CategoryRow, GroupRow, ReportData } from '../../../src/report/html/report-data.ts';
import { categoryLabel, number, percent } from '../format.ts';
import { Name } from '../parts/name.tsx';
import { Section } from '../parts/section.tsx';
import { ShareBar } from '../parts/share-bar.tsx';
import { cell, Table, type Cell } from '../parts/table.tsx';

/** Flagged items by category, corpus and modality. */
export function Flagged({ data }: { readonly data: ReportData }): JSX.Element {
  return (
    <Section id="flagged" title="What was flagged">
      <Categories data={data} />
      <Groups title="By corpus" first="Corpus" rows={data.corpora} />
      <Groups title="By modality" first="Modality" rows={data.modalities} />
    </Section>
  );
}

function Categories({ data: { categories, summary } }: { readonly data: ReportData }): JSX.Element {
  const { verdicts } = summary;
  const most = Math.max(1, ...categories.map(({ block, review, allow }) => block + review + allow));
  const rows = byNumber(categories).map(({ category, block, review, allow, any }) => [
    cell(category === null ? 'No category' : <Name text={categoryLabel(category)} />),
    cell(<ShareBar whole={most} parts={decisionParts({ block, review, allow })} />, block + review + allow),
    count(block + review + allow),
    count(block),
    count(review),
    count(allow),
    cell(percent(block + review + allow, verdicts), (block + review + allow) / verdicts),
    count(any),
  ]);
  const sum = (key: 'block' | 'review' | 'allow'): number =>
    categories.reduce((total, row) => total + row[key], 0);
  const all = sum('block') + sum('review') + sum('allow');
  return (
    <>
      <h3>By category</h3>
      {rows.length === 0 ? (
        <p>Nothing was flagged.</p>
      ) : (
        <Table
          caption="Flagged verdicts by main category"
          columns={[
            { name: 'Category' },
            { name: 'Share' },
            { name: 'Flagged', numeric: true },
            { name: 'Block', numeric: true },
            { name: 'Review', numeric: true },
            { name: 'Allow', numeric: true },
            { name: 'Of verdicts', numeric: true },
            { name: 'With others', numeric: true },
          ]}
          rows={rows}
          total={[
            ...[cell('All flagged'), cell(''), count(all), count(sum('block')), count(sum('review'))],
            ...[count(sum('allow')), cell(percent(all, verdicts)), cell('')],
          ]}
        />
      )}
      <p class="note">
        Each verdict that the guard flagged, or that is review or block, counts once, under its most probable
        flagged category. “Allow”: flagged by the guard, allowed by the policy. “With others” counts a verdict
        under each of its categories.
      </p>
    </>
  );
}

/** The most frequent first, what has no category last. */
function byNumber(rows: readonly CategoryRow[]): CategoryRow[] {
  const flagged = ({ block, review, allow }: CategoryRow): number => block + review + allow;
  return rows.toSorted(
    (a, b) =>
      Number(a.category === null) - Number(b.category === null) || flagged(b) - flagged(a) || b.any - a.any,
  );
}

function Groups({
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
    const verdicts = allow + review + block;
    return [
      cell(name),
      cell(
        <ShareBar whole={items} parts={[...decisionParts(row), { kind: 'unjudged', count: errors }]} />,
        verdicts === 0 ? -1 : (review + block) / verdicts,
      ),
      count(items),
      count(block),
      count(review),
      count(allow),
      count(errors),
      cell(percent(review + block, verdicts), verdicts === 0 ? -1 : (review + block) / verdicts),
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
          { name: 'Flagged rate', numeric: true },
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
