import type { JSX } from 'preact';
import { notJudgedByCause } from '../../../src/domain/words/not-judged.ts';
import type { ReportData } from '../../../src/report/html/report-data.ts';
import { number, percent } from '../format.ts';
import { ItemId, ItemPlace } from '../parts/item-place.tsx';
import { Name } from '../parts/name.tsx';
import { Unread } from '../parts/unread.tsx';
import { Section } from '../parts/section.tsx';
import { cell, Table } from '../parts/table.tsx';

/** The files without a single judged item, each with the reason and the remedy. */
function ToFix({ files }: { readonly files: ReportData['toFix'] }): JSX.Element | null {
  if (files.length === 0) return null;
  return (
    <Table
      caption="Files to fix: nothing was judged of these"
      columns={[{ name: 'File' }, { name: 'Items', numeric: true }, { name: 'Why' }, { name: 'What to do' }]}
      rows={files.map(({ item, code, items, advice }) => [
        cell(<Name text={item.path} />, item.path),
        cell(number(items), items),
        cell(
          <>
            <code class="whole">{code}</code> {item.error !== null && <Name text={item.error} />}
          </>,
          code,
        ),
        cell(advice),
      ])}
    />
  );
}

/** Items that were not judged, by code: what to do about them, and the first of each. */
export function Errors({ data }: { readonly data: ReportData }): JSX.Element {
  const { errors, summary } = data;
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
          rows={notJudgedByCause(summary).map(({ code, items, retryable, full }) => [
            cell(<code class="whole">{code}</code>, code),
            cell(number(items), items),
            cell(percent(items, summary.items), items),
            cell(`${full}${retryable ? '; try these again with retry' : ''}`),
          ])}
          total={[
            ...[cell('All'), cell(number(summary.errors)), cell(percent(summary.errors, summary.items))],
            cell(''),
          ]}
        />
      )}
      <ToFix files={data.toFix} />
      <Unread data={data} />
      {examples.length > 0 && (
        <Table
          caption="The first items of each code"
          columns={[{ name: 'Code' }, { name: 'Item' }, { name: 'Where' }, { name: 'Why' }]}
          rows={examples.map(({ code, item }) => [
            cell(<code class="whole">{code}</code>, code),
            cell(<ItemId item={item} />),
            cell(<ItemPlace item={item} />),
            cell(item.error === null ? '' : <Name text={item.error} />),
          ])}
        />
      )}
    </Section>
  );
}
