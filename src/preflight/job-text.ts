import { relative } from 'node:path';
import type { RunConfig, SourceConfig } from '../config/run-config.ts';
import { plural } from '../domain/text/plural.ts';
import { shownName } from '../domain/text/shown.ts';
import type { CorpusForecast, Forecast } from './forecast.ts';
import { failedOf, judgedOf } from './tally.ts';

/** Columns named in a comment. */
const MAX_TABLES = 3;

interface JobTextOptions {
  /** Absolute folder of the job file, which its paths are relative to. */
  readonly folder: string;
  /** Absolute path of the policy file; null: none. */
  readonly policy: string | null;
}

/** A job file that says the same as a configuration, with what was found in its sources as comments to edit by. */
export function jobText(config: RunConfig, forecast: Forecast, { folder, policy }: JobTextOptions): string {
  const { name, sources, guards, output } = config;
  const path = (absolute: string): string => {
    const from = relative(folder, absolute);
    return text(/^[./]/.test(from) ? from : `./${from}`);
  };
  return [
    '# Made by guardsweep preflight. Edit it, then: guardsweep enqueue <this file>',
    '# All keys: docs/job-files.md',
    `name: ${text(name)}`,
    'sources:',
    ...sources.flatMap((source, index) => sourceLines(source, path(source.path), forecast.sources[index]!)),
    // In a fleet the workers name the guards, and a job must not.
    ...(guards.length === 0 ? [] : [`guard: [${guards.map(text).join(', ')}]`]),
    policy === null ? '# policy: ./policy.yaml' : `policy: ${path(policy)}`,
    'output:',
    `  dir: ${path(output.dir)}`,
    `  formats: [${output.formats.join(', ')}]`,
    '# failIf:',
    '#   flaggedRate: 0.01',
    '',
  ].join('\n');
}

function sourceLines(config: SourceConfig, path: string, found: CorpusForecast): string[] {
  const { textColumns, idColumn, audit, asStream, encoding, layout, header } = config;
  const [table] = found.tables;
  const columns = textColumns?.map(text) ?? table?.judged.filter((label) => label.startsWith('"')) ?? [];
  const set = (isSet: boolean, key: string, value: string): string =>
    `    ${isSet ? '' : '# '}${key}: ${value}`;
  return [
    ...comments(found).map((line) => `  # ${line}`),
    `  - path: ${path}`,
    ...(columns.length > 0 || textColumns !== null
      ? [set(textColumns !== null, 'text', `[${columns.join(', ')}]`)]
      : []),
    ...(table === undefined && idColumn === null
      ? []
      : [set(idColumn !== null, 'id', text(idColumn ?? 'id'))]),
    set(audit !== 'final', 'audit', audit === 'final' ? 'every-turn' : audit),
    ...(encoding === null ? [] : [set(true, 'encoding', text(encoding))]),
    ...(layout === null ? [] : [set(true, 'layout', layout)]),
    ...(header === null ? [] : [set(true, 'header', text(header))]),
    ...(asStream === null
      ? []
      : [
          set(true, 'asStream', 'true'),
          set(true, 'chunkChars', String(asStream.chunkChars)),
          set(true, 'streamCadence', String(asStream.cadenceChunks)),
        ]),
  ];
}

function comments({ files, predicted, method, layouts, tables }: CorpusForecast): string[] {
  const items = judgedOf(predicted) + failedOf(predicted);
  const kinds = Object.entries(layouts).map(([layout, count]) => `${layout} ${count}`);
  const errors = Object.entries(predicted.errors).map(([code, count]) => `${code} ${count}`);
  return [
    `${files} ${plural(files, 'file')} (${kinds.join(', ')}); ${method === 'counted' ? '' : 'about '}${items} ${plural(items, 'item')}`,
    ...(errors.length > 0 ? [`not judged: ${errors.join(', ')}`] : []),
    ...tables.slice(0, MAX_TABLES).map(({ path, judged, not_judged: others }) => {
      return `${shownName(path)}: judged ${judged.join(', ') || 'no column'}; not judged ${others.join(', ') || 'none'}`;
    }),
  ];
}

/** A text in double quotes, whose escapes YAML shares with JSON. */
function text(value: string): string {
  return JSON.stringify(value);
}
