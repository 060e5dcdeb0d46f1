import type { JSX } from 'preact';
import type { PreviousChanges, ReportData } from '../../../src/report/html/report-data.ts';
import { categoryLabel, number, percent, time } from '../format.ts';
import { Name } from '../parts/name.tsx';
import { Fold } from '../parts/section.tsx';
import { cell, Table, type Cell } from '../parts/table.tsx';

/** Changes since the previous run: the counts of both runs and, for small runs, the changed items. */
export function Previous({ data }: { readonly data: ReportData }): JSX.Element | null {
  const { previous, summary } = data;
  if (previous === null) return null;
  const { counts: before, changes } = previous;
  const row = (name: JSX.Element | string, was: number, is: number): Cell[] => [
    cell(name),
    cell(number(was), was),
    cell(number(is), is),
    cell(formatChange(is - was), is - was),
  ];
  const keys = [...new Set([...Object.keys(summary.by_category), ...Object.keys(before.by_category)])].slice(
    0,
    40,
  );
  const models = new Set(summary.guards.map(({ fingerprint }) => fingerprint));
  const isSameModel =
    before.fingerprints.length > 0 &&
    before.fingerprints.every((model) => models.has(model)) &&
    models.size === before.fingerprints.length;
  return (
    <Fold id="previous" title="Since the previous run">
      <p>
        Compared with <Name text={previous.run} /> of {time(previous.createdAt)}
        {previous.isChosen ? '. ' : ', which has the same name and sources. '}
        {isSameModel ? 'The same model judged.' : 'Not the same models judged.'}
      </p>
      <Table
        caption="Counts of both runs"
        columns={[
          { name: 'What' },
          { name: 'Before', numeric: true },
          { name: 'Now', numeric: true },
          { name: 'Change', numeric: true },
        ]}
        rows={[
          row('Items', before.items, summary.items),
          row('Verdicts', before.verdicts, summary.verdicts),
          row('Not judged', before.items - before.verdicts, summary.items - summary.verdicts),
          row('Block', before.by_decision.block, summary.by_decision.block),
          row('Review', before.by_decision.review, summary.by_decision.review),
          row('Allow', before.by_decision.allow, summary.by_decision.allow),
          row('Judged in part', before.partial, summary.partial),
          ...keys.map((key) =>
            row(
              <Name text={`Flagged: ${categoryLabel(key)}`} />,
              before.by_category[key] ?? 0,
              summary.by_category[key] ?? 0,
            ),
          ),
          row('Flagged: no category', before.without_category, summary.without_category),
        ].filter(([, was, is]) => was!.by !== 0 || is!.by !== 0)}
      />
      <p>
        Flagged: {percent(before.flagged, before.items)} of all items before,{' '}
        {percent(summary.flagged, summary.items)} now.
      </p>
      {changes === null ? (
        <p>
          The items of the two runs are not compared here: one of them is too large.{' '}
          <code>guardsweep diff</code> compares finished runs of any size.
        </p>
      ) : (
        <Changes changes={changes} />
      )}
    </Fold>
  );
}

function Changes({ changes }: { readonly changes: PreviousChanges }): JSX.Element {
  const lines: readonly (readonly [string, number])[] = [
    ['Items with the same content in both runs', changes.pairs],
    ['Items only in the run before', changes.onlyBefore],
    ['Items only in this run', changes.onlyNow],
    ...changes.decisions.map(({ before, now, items }) => [`From ${before} to ${now}`, items] as const),
  ];
  return (
    <>
      <h3>Item by item</h3>
      <Table
        caption="What changed for items of the same content"
        columns={[{ name: 'What' }, { name: 'Items', numeric: true }]}
        rows={lines.map(([name, count]) => [cell(name), cell(number(count), count)])}
      />
      {changes.meanShift !== null && (
        <p>Scores changed by {formatChange(Number(changes.meanShift.toFixed(4)))} on average.</p>
      )}
    </>
  );
}

function formatChange(value: number): string {
  if (value === 0) return '0';
  return value > 0 ? `+${number(value)}` : `−${number(-value)}`;
}
