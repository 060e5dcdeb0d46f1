import type { JSX } from 'preact';
import type { CoverageRow, ReportData } from '../../../src/report/html/report-data.ts';
import { formatCount, number, percent } from '../format.ts';
import { Fold } from '../parts/section.tsx';
import { cell, Table } from '../parts/table.tsx';

const KINDS: Readonly<Record<CoverageRow['unit'], readonly [what: string, unit: string]>> = {
  chars: ['Texts', 'characters'],
  turns: ['Conversations', 'turns'],
  frames: ['Images', 'frames'],
  seconds: ['Audio', 'seconds'],
};

/** How much of the items with a verdict the guard judged. */
export function Coverage({ data: { coverage, summary } }: { readonly data: ReportData }): JSX.Element | null {
  if (coverage.length === 0) return null;
  const { conversations, earlier_turns: turns } = summary.judged_as_whole;
  return (
    <Fold id="coverage" title="Coverage">
      <Table
        caption="How much of the items with a verdict was judged"
        columns={[
          { name: 'Items' },
          { name: 'Verdicts', numeric: true },
          { name: 'In part only', numeric: true },
          { name: 'In several pieces', numeric: true },
          { name: 'Judged', numeric: true },
          { name: 'Of all', numeric: true },
          { name: 'Coverage', numeric: true },
        ]}
        rows={coverage.map(({ unit, items, partial, inParts, judged, total }) => {
          const [what, name] = KINDS[unit];
          return [
            cell(what),
            ...[items, partial, inParts].map((count) => cell(number(count), count)),
            cell(`${number(Math.round(judged))} ${name}`, judged),
            cell(`${number(Math.round(total))} ${name}`, total),
            cell(percent(judged, total), total === 0 ? 0 : judged / total),
          ];
        })}
      />
      {conversations > 0 && (
        <p>
          {formatCount(conversations, 'conversation was', 'conversations were')} judged as a whole;{' '}
          {formatCount(turns, 'earlier turn has', 'earlier turns have')} no verdict of their own.{' '}
          <code>--audit every-turn</code> judges them.
        </p>
      )}
    </Fold>
  );
}
