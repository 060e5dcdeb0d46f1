import type { JSX } from 'preact';
import type { RateOverTime, ReportData } from '../../../src/report/html/report-data.ts';
import { histogram } from '../charts/histogram.ts';
import { duration, number, time } from '../format.ts';
import { Figure } from '../parts/figure.tsx';
import { Section } from '../parts/section.tsx';
import { cell, Table } from '../parts/table.tsx';

const HEIGHT = 150;
/** Fewer bars say less than their numbers. */
const MIN_BINS = 3;
/** One drawing for wide windows and paper, one for narrow ones: the page shows the one that fits. */
const WIDTHS = { wide: 760, narrow: 340 } as const;

type Kind = keyof RateOverTime['bins'][number];

const KINDS: readonly (readonly [kind: Kind, title: string, color: string])[] = [
  ['verdicts', 'Verdicts', 'accent'],
  ['flagged', 'Of these review or block', 'block'],
  ['errors', 'Errors', 'unjudged'],
];

/** How fast the run went, and when something changed. */
export function Rate({ data: { rate, summary } }: { readonly data: ReportData }): JSX.Element | null {
  if (rate === null) return null;
  const { from, seconds, bins } = rate;
  const to = from + bins.length * seconds * 1000;
  const step = duration(seconds);
  const total = (kind: Kind): number => bins.reduce((sum, bin) => sum + bin[kind], 0);
  return (
    <Section id="rate" title="Over time">
      <p>
        {summary.seconds > 0 && `${rateText(summary.items / summary.seconds)} items per second on average. `}
        Each bar is {step}, in UTC. Copies and verdicts of earlier runs are left out.
      </p>
      {KINDS.filter(([kind]) => bins.length >= MIN_BINS && total(kind) > 0).map(([kind, title, color]) =>
        (['wide', 'narrow'] as const).map((size) => (
          <Figure
            title={`${title} (${number(total(kind))})`}
            name={size}
            svg={histogram({
              ...{ bins: bins.map((bin) => bin[kind]), from, to, isTime: true, color },
              ...{ width: WIDTHS[size], height: HEIGHT },
              label: `${title} per ${step}, from ${time(new Date(from).toISOString())}.`,
            })}
          />
        )),
      )}
      <details open={bins.length < MIN_BINS}>
        <summary>The numbers</summary>
        <Table
          caption={`Outcomes per ${step}`}
          columns={[
            { name: 'From' },
            { name: 'Verdicts', numeric: true },
            { name: 'Review or block', numeric: true },
            { name: 'Errors', numeric: true },
          ]}
          rows={bins.map(({ verdicts, flagged, errors }, bin) => {
            const at = new Date(from + bin * seconds * 1000).toISOString();
            return [
              cell(time(at)),
              ...[verdicts, flagged, errors].map((count) => cell(number(count), count)),
            ];
          })}
        />
      </details>
    </Section>
  );
}

function rateText(rate: number): string {
  return rate >= 10 ? number(Math.round(rate)) : String(Number(rate.toPrecision(2)));
}
