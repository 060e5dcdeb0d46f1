import { LANES } from '../domain/item.ts';
import { plural } from '../domain/text/plural.ts';
import { shown, shownName } from '../domain/text/shown.ts';
import type { CorpusForecast, ExpectedShare, Forecast, GuardForecast } from './forecast.ts';
import { failedOf, judgedOf } from './tally.ts';
import type { Method } from './read-corpus.ts';
import type { Estimate } from './statistics.ts';

/** Of tables, codes and categories each. */
const MAX_LISTED = 10;

/** The forecast for people, as lines. */
export function forecastLines(forecast: Forecast): string[] {
  const { items, to_judge, method, files, bytes, skipped, predicted, guard } = forecast;
  const { low, high } = forecast.items_interval;
  const how =
    method === 'counted'
      ? 'counted'
      : `estimated from what was read; 95 %: ${number(low)} to ${number(high)} items`;
  const lanes = LANES.filter((lane) => predicted.lanes[lane] > 0).map(
    (lane) => `${lane} ${number(predicted.lanes[lane])}`,
  );
  const left = Object.entries(skipped).map(([reason, count]) => `${shown(reason)} (${number(count)})`);
  return [
    `Corpus: ${amount(items, method)} in ${number(files)} ${plural(files, 'file')}, ${size(bytes)} (${how}); ${number(to_judge)} to judge, ${number(items - to_judge)} not judged`,
    ...(lanes.length > 0 ? [`To judge: ${lanes.join(', ')}`] : []),
    ...(left.length > 0 ? [`Left out: ${left.join(', ')}`] : []),
    ...forecast.sources.flatMap(sourceLines),
    ...(guard === null ? ['No guard was asked: times and flags are not known'] : guardLines(guard)),
    `Disk for the run directory: ${size(forecast.disk_bytes)}; on a fleet, Redis memory: ${size(forecast.redis_bytes)}`,
  ];
}

function sourceLines(corpus: CorpusForecast): string[] {
  const { source, files, bytes, read, layouts, tables, method, predicted } = corpus;
  const items = judgedOf(predicted) + failedOf(predicted);
  const how =
    method === 'counted'
      ? 'all read'
      : `estimated from ${size(read.bytes)} in ${number(read.files)} ${plural(read.files, 'file')}`;
  const kinds = Object.entries(layouts).map(([layout, count]) => `${layout} ${number(count)}`);
  // Records without keys, such as lists of turns, have no columns.
  const named = tables.filter(({ judged, not_judged }) => judged.length + not_judged.length > 0);
  const errors = Object.entries(predicted.errors).map(([code, count]) => `${code} ${number(count)}`);
  return [
    `${shownName(source)}: ${number(files)} ${plural(files, 'file')}, ${size(bytes)}; ${amount(items, method)} (${how})`,
    `  recognised as: ${kinds.join(', ')}`,
    ...(errors.length > 0 ? [`  not judged: ${errors.join(', ')}`] : []),
    ...named.slice(0, MAX_LISTED).map(({ path, judged, not_judged: others }) => {
      const which = judged.length > 0 ? `judged ${judged.join(', ')}` : 'no column is judged';
      return `  columns of ${shownName(path)}: ${which}${others.length > 0 ? `; not judged ${others.join(', ')}` : ''}`;
    }),
  ];
}

function amount(items: number, method: Method): string {
  return `${method === 'counted' ? '' : 'about '}${number(items)} ${plural(items, 'item')}`;
}

function guardLines({
  endpoints,
  sampled,
  verdicts,
  by_decision,
  by_category,
  by_error_code,
  reuse,
  duration,
}: GuardForecast): string[] {
  const models = endpoints.map(
    ({ name, fingerprint }) => `${shown(name)} (${fingerprint ?? 'no fingerprint'})`,
  );
  const categories = sorted(by_category).map(([key, share]) => `  ${shown(key)}: ${expected(share)}`);
  const errors = sorted(by_error_code).map(([code, share]) => `  ${code}: ${expected(share)}`);
  const { allow, review, block } = by_decision;
  return [
    `Sample: ${number(sampled)} ${plural(sampled, 'item')} judged by ${models.join(', ')}; ${number(verdicts)} ${plural(verdicts, 'verdict')}`,
    ...(sampled === 0
      ? []
      : [`Expected: allow ${expected(allow)}`, `  review ${expected(review)}`, `  block ${expected(block)}`]),
    ...(categories.length > 0 ? ['Expected flags by category:', ...categories] : []),
    ...(errors.length > 0 ? ['Expected errors of the guard:', ...errors] : []),
    ...(reuse === null ? [] : [`Expected to have a verdict already: ${expected(reuse)}`]),
    ...(duration === null
      ? []
      : [
          `Expected time${reuse === null ? '' : ' without that'}: ${range(duration.run, time)}; guards busy for ${range(duration.guard_seconds, time)} in all, reading takes ${time(duration.reading)}`,
          `  ${duration.method}`,
        ]),
  ];
}

function sorted<S extends ExpectedShare | undefined>(
  shares: Readonly<Partial<Record<string, S>>>,
): (readonly [string, ExpectedShare])[] {
  return Object.entries(shares)
    .flatMap(([key, share]) => (share === undefined ? [] : [[key, share] as const]))
    .sort(([, one], [, other]) => other.seen - one.seen)
    .slice(0, MAX_LISTED);
}

function expected(share: ExpectedShare): string {
  return `${range(share, percent)}, about ${number(share.items)} ${plural(share.items, 'item')}`;
}

function range({ value, low, high }: Estimate, show: (value: number) => string): string {
  return `${show(value)} (95 %: ${show(low)} to ${show(high)})`;
}

function percent(share: number): string {
  return `${Number((share * 100).toPrecision(2))} %`;
}

function time(seconds: number): string {
  if (seconds < 90) return `${Number(seconds.toPrecision(2))} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${Number((seconds / 3600).toPrecision(2))} h`;
}

const UNITS = ['bytes', 'KB', 'MB', 'GB', 'TB'];

function size(bytes: number): string {
  let [value, unit] = [bytes, 0];
  for (; value >= 1000 && unit < UNITS.length - 1; unit++) value /= 1000;
  return `${unit === 0 ? value : Number(value.toPrecision(2))} ${UNITS[unit]}`;
}

function number(count: number): string {
  return count.toLocaleString('en-US');
}
