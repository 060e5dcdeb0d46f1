import type { JSX } from 'preact';
import type { ReportData, ReportItem } from '../../../src/report/html/report-data.ts';
import { categoryLabel, formatCount, milliseconds, number, score } from '../format.ts';
import { ItemId, ItemPlace } from '../parts/item-place.tsx';
import { Name } from '../parts/name.tsx';
import { Section } from '../parts/section.tsx';
import { cell, Table } from '../parts/table.tsx';

/** Categories of an item that are named. */
const MAX_CATEGORIES = 3;

/** The items to look at first. Content is never shown here. */
export function Items({ data }: { readonly data: ReportData }): JSX.Element {
  return (
    <Section id="items" title="Items to look at">
      <p class="note">Copies and restricted items are not among them.</p>
      <Listed title="Most severe" items={data.severe} none="Nothing is review or block." />
      <Listed title="Most uncertain" items={data.uncertain} none="There are no verdicts." />
      <Listed title="Slowest" items={data.slow} none="No verdict was made in this run." />
      <Restricted data={data} />
    </Section>
  );
}

function Listed({
  title,
  items,
  none,
}: {
  readonly title: string;
  readonly items: readonly ReportItem[];
  readonly none: string;
}): JSX.Element {
  return (
    <>
      <h3>{title}</h3>
      {items.length === 0 ? (
        <p>{none}</p>
      ) : (
        <Table
          caption={`${title} first`}
          columns={[
            { name: 'Item' },
            { name: 'Decision' },
            { name: 'Score', numeric: true },
            { name: 'Categories' },
            { name: 'Where' },
            { name: 'Why' },
            { name: 'Latency', numeric: true },
          ]}
          rows={items.map((item) => [
            cell(<ItemId item={item} />, item.seq),
            cell(<span class={`decision ${item.decision}`}>{item.decision}</span>),
            cell(score(item.score!), item.score),
            cell(<CategoryNames item={item} />),
            cell(<ItemPlace item={item} />),
            cell(<Name text={item.decidedBy ?? ''} />),
            cell(item.latencyMs === null ? '–' : milliseconds(item.latencyMs), item.latencyMs ?? -1),
          ])}
        />
      )}
    </>
  );
}

function CategoryNames({ item: { categories } }: { readonly item: ReportItem }): JSX.Element {
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

/** How many items are restricted. Reports are handed on, so they do not say which: restricted.csv does. */
function Restricted({ data: { summary } }: { readonly data: ReportData }): JSX.Element | null {
  if (summary.restricted === 0) return null;
  return (
    <>
      <h3>Restricted</h3>
      <p>
        {formatCount(summary.restricted, 'item', 'items')} may show children in sexual contexts. This report
        does not name them. <code>restricted.csv</code> in the run directory says where they are.
      </p>
    </>
  );
}
