import { plural } from '../domain/text/plural.ts';
import { escapeText, quoteName } from '../domain/text/escape-text.ts';
import type { SourceSettings } from '../config/run-config.ts';
import { unusedGlobNotice } from '../ingest/discover/expand.ts';
import type { Forecast, SourceForecast } from './preflight.ts';

/** Maximum number of tables to list. */
const MAX_LISTED = 10;

/** The forecast as text, one string per line. */
export function forecastLines({
  sources,
  skipped,
  unused_globs: unused,
  items,
  to_judge,
  time,
  disk_bytes,
}: Forecast): string[] {
  const about = sources.some(({ estimated }) => estimated) ? 'about ' : '';
  const left = Object.entries(skipped).map(([reason, count]) => `${escapeText(reason)} (${number(count)})`);
  return [
    `Corpus: ${about}${number(items)} ${plural(items, 'item')}; ${number(to_judge)} to judge, ${number(items - to_judge)} not judged`,
    ...sources.flatMap(sourceLines),
    ...unused.map((glob) => unusedGlobNotice(glob)),
    ...(left.length > 0 ? [`Left out: ${left.join(', ')}`] : []),
    `Guard requests: at least ${number(to_judge)}; long texts, clips and animations take several`,
    time === null
      ? 'Time: unknown until a run with this guard has finished; --rate gives a speed'
      : `Time: ${duration(time.seconds)} at ${Number(time.items_per_second.toPrecision(2))} items/s (${time.run === null ? '--rate' : `run ${escapeText(time.run)}`}); verdicts of earlier runs are reused and take less`,
    `Disk for the run directory: ${size(disk_bytes)}`,
  ];
}

function sourceLines(forecast: SourceForecast): string[] {
  const { source, files, bytes, estimated, kinds, tables, to_judge, not_judged, for: settings } = forecast;
  // Records without keys, such as lists of turns, have no columns.
  const named = tables.filter((table) => table.judged.length + table.not_judged.length > 0);
  return [
    `${quoteName(source)}: ${number(files)} ${plural(files, 'file')}, ${size(bytes)}${estimated ? ', estimated from a part' : ''}`,
    `  recognised as: ${listCounts(kinds)}`,
    `  to judge: ${listCounts(to_judge)}`,
    ...(Object.keys(not_judged).length > 0 ? [`  not judged: ${listCounts(not_judged)}`] : []),
    ...settings.map(
      (each) =>
        `  for ${quoteName(each.files)}: ${number(each.matched)} ${plural(each.matched, 'file')}; ${describeSettings(each)}`,
    ),
    ...named.slice(0, MAX_LISTED).map(({ path, judged, not_judged: others }) => {
      const which = judged.length > 0 ? `judged ${judged.join(', ')}` : 'no column is judged';
      return `  columns of ${quoteName(path)}: ${which}${others.length > 0 ? `; not judged ${others.join(', ')}` : ''}`;
    }),
  ];
}

/** Describes the settings for reading files; everything else is detected. */
function describeSettings({
  textColumns,
  idColumn,
  encoding,
  layout,
  header,
  audit,
  asStream,
}: SourceSettings): string {
  const said: Record<string, string | null | undefined> = {
    'text column': textColumns?.map((name) => quoteName(name)).join(', '),
    ...{ 'id column': idColumn && quoteName(idColumn), encoding, layout, header, audit },
  };
  const parts = Object.entries(said).flatMap(([name, value]) => (value == null ? [] : [`${name} ${value}`]));
  return [...parts, ...(asStream === null ? [] : ['replayed as streams'])].join(', ');
}

function listCounts(counts: Readonly<Partial<Record<string, number>>>): string {
  const listed = Object.entries(counts).flatMap(([key, count = 0]) =>
    count > 0 ? `${key} ${number(count)}` : [],
  );
  return listed.join(', ') || 'nothing';
}

function duration(seconds: number): string {
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
