import type { JSX } from 'preact';
import type { ReportData, ReportItem } from '../../../src/report/html/report-data.ts';
import { categoryLabel, formatCount, milliseconds, number, score } from '../format.ts';
import { ItemPlace } from '../parts/item-place.tsx';
import { Name } from '../parts/name.tsx';
import { Section } from '../parts/section.tsx';
import { cell, Table } from '../parts/table.tsx';

/** Maximum categories to name per item. */
const MAX_CATEGORIES = 3;

/** The items to look at first. Content is never shown here. */
export function Severe({ data: { severe, summary } }: { readonly data: ReportData }): JSX.Element {
  const { review, block } = summary.by_decision;
  return (
    <Section id="items" title="Most severe items">
      {severe.length > 0 && (
        <p class="note">
          {number(severe.length)} of {formatCount(review + block, 'item')} to block or to review; copies and
          restricted items are left out.
        </p>
      )}
      <Listed title="Most severe" items={severe} none="Nothing to show is review or block." />
    </Section>
  );
}

export function Listed({
  title,
  items,
  none,
  withLatency = false,
}: {
  readonly title: string;
  readonly items: readonly ReportItem[];
  readonly none: string;
  readonly withLatency?: boolean;
}): JSX.Element {
  if (items.length === 0) return <p>{none}</p>;
  return (
    <Table
      caption={`${title} first`}
      columns={[
        { name: 'File and row' },
        { name: 'Category' },
        { name: 'Decision' },
        { name: 'Score', numeric: true },
        ...(withLatency ? [{ name: 'Latency', numeric: true }] : []),
      ]}
      rows={items.map((item) => [
        cell(<ItemPlace item={item} />, item.seq),
        cell(<CategoryNames item={item} />),
        cell(<span class={`decision ${item.decision}`}>{item.decision}</span>),
        cell(score(item.score!), item.score),
        ...(withLatency ? [cell(milliseconds(item.latencyMs!), item.latencyMs)] : []),
      ])}
    />
  );
}

function CategoryNames({ item: { categories } }: { readonly item: ReportItem }): JSX.Element {
  if (categories.length === 0) return <>No category</>;
  const more = categories.length - MAX_CATEGORIES;
  return (
    <>
      {categories.slice(0, MAX_CATEGORIES).map((key, index) => (
        <>
          {index > 0 && ', '}
          <Name text={categoryLabel(key)} />
        </>
      ))}
      {more > 0 && ` and ${number(more)} more`}
    </>
  );
}
