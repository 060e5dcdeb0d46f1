import type { JSX } from 'preact';
import type { RateOverTime, ReportData } from '../../../src/report/html/report-data.ts';
import { histogram } from '../charts/histogram.ts';
import { duration, number, time } from '../format.ts';
import { Figure } from '../parts/figure.tsx';
import { Fold } from '../parts/section.tsx';
import { Listed } from './items.tsx';

const HEIGHT = 150;
/** With fewer bars, the numbers alone say more. */
const MIN_BINS = 3;
/** Shorter runs show no meaningful course. */
const MIN_SECONDS = 60;
/** One drawing for wide windows and paper, one for narrow ones: the page shows the one that fits. */
const WIDTHS = { wide: 760, narrow: 340 } as const;

type Kind = keyof RateOverTime['bins'][number];

const KINDS: readonly (readonly [kind: Kind, title: string, color: string])[] = [
  ['verdicts', 'Verdicts', 'accent'],
  ['flagged', 'Of these review or block', 'block'],
  ['errors', 'Errors', 'unjudged'],
];

/** Speed of the run, times of changes, and the slowest items. */
export function Latency({ data }: { readonly data: ReportData }): JSX.Element | null {
  const { rate, slow, summary } = data;
  if (rate === null && slow.length === 0) return null;
  return (
    <Fold id="latency" title="Latency">
      {summary.seconds > 0 && <p>{rateText(summary.items / summary.seconds)} items per second on average.</p>}
      {rate !== null && <OverTime rate={rate} />}
      {slow.length > 0 && <Listed title="Slowest" items={slow} none="" withLatency />}
    </Fold>
  );
}

function OverTime({ rate: { from, seconds, bins } }: { readonly rate: RateOverTime }): JSX.Element | null {
  if (bins.length < MIN_BINS || bins.length * seconds < MIN_SECONDS) return null;
  const to = from + bins.length * seconds * 1000;
  const step = duration(seconds);
  const total = (kind: Kind): number => bins.reduce((sum, bin) => sum + bin[kind], 0);
  return (
    <>
      <p class="note">Each bar is {step}, in UTC. Copies and verdicts of earlier runs are left out.</p>
      {KINDS.filter(([kind]) => total(kind) > 0).map(([kind, title, color]) =>
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
    </>
  );
}

function rateText(rate: number): string {
  return rate >= 10 ? number(Math.round(rate)) : String(Number(rate.toPrecision(2)));
}
