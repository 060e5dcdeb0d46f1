import type { JSX } from 'preact';
import { ITEM_ADVICE } from '../../../src/domain/words/item-advice.ts';
import type { ReportData } from '../../../src/report/html/report-data.ts';
import { number, percent } from '../format.ts';
import { ItemId, ItemPlace } from '../parts/item-place.tsx';
import { Name } from '../parts/name.tsx';
import { Section } from '../parts/section.tsx';
import { cell, Table } from '../parts/table.tsx';

/** Items that were not judged, by code: what to do about them, and the first of each. */
export function Errors({ data: { errors, summary } }: { readonly data: ReportData }): JSX.Element {
  const examples = errors.flatMap(({ code, examples: items }) => items.map((item) => ({ code, item })));
  return (
    <Section id="errors" title="What was not judged">
      {errors.length === 0 ? (
        <p>No item ended in an error.</p>
      ) : (
        <Table
          caption="Items without a verdict, by code"
          columns={[
            { name: 'Code' },
            { name: 'Items', numeric: true },
            { name: 'Of items', numeric: true },
            { name: 'What to do' },
          ]}
          rows={errors.map(({ code, items, retryable }) => [
            cell(<code>{code}</code>, code),
            cell(number(items), items),
            cell(percent(items, summary.items), items),
            cell(`${ITEM_ADVICE[code]}${retryable ? '; try these again with retry' : ''}`),
          ])}
          total={[
            ...[cell('All'), cell(number(summary.errors)), cell(percent(summary.errors, summary.items))],
            cell(''),
          ]}
        />
      )}
      {examples.length > 0 && (
        <Table
          caption="The first items of each code"
          columns={[{ name: 'Code' }, { name: 'Item' }, { name: 'Where' }, { name: 'Why' }]}
          rows={examples.map(({ code, item }) => [
            cell(<code>{code}</code>, code),
            cell(<ItemId item={item} />),
            cell(<ItemPlace item={item} />),
            cell(item.error === null ? '' : <Name text={item.error} />),
          ])}
        />
      )}
    </Section>
  );
}
