import { relative, resolve } from 'node:path';
import { GUARD_TLS_SETTINGS } from '../config/keys/guard-tls.ts';
import type { RunConfig, SourceConfig } from '../config/run-config.ts';
import { CANARIES, EXPECT_FINGERPRINT, GUARD, GUARD_POLICY } from '../config/settings/entries/guard.ts';
import { FRAMES, LONG_AUDIO_MODE, POLICY, REUSE, STORE } from '../config/settings/entries/judging.ts';
import { MAX_WAIT } from '../config/settings/entries/fleet.ts';
import { given, type SettingTable, type Sources } from '../config/settings/given.ts';
import { plural } from '../domain/text/plural.ts';
import { quoteName } from '../domain/text/escape-text.ts';
import type { Forecast, SourceForecast } from './preflight.ts';

/** Columns named in a comment. */
const MAX_TABLES = 3;

/** Settings of a run that its job file keeps where they were given. */
const KEPT = {
  ...{ policy: POLICY, frames: FRAMES, longAudio: LONG_AUDIO_MODE },
  ...{ store: STORE, reuse: REUSE, expectFingerprint: EXPECT_FINGERPRINT, maxWait: MAX_WAIT },
  ...{ guardPolicy: GUARD_POLICY, canaries: CANARIES, ...GUARD_TLS_SETTINGS },
};

interface JobTextOptions {
  /** Absolute folder of the job file, which its paths are relative to. */
  readonly folder: string;
  /** Flags and environment that the user gave. */
  readonly from: Sources;
}

/** A job file that says the same as a configuration, with what was found in its sources as comments to edit by. */
export function jobText(config: RunConfig, forecast: Forecast, options: JobTextOptions): string {
  const { folder, from } = options;
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
    given(GUARD, from) === null
      ? '# guard: [grpc://gpu-1:8001]  # default: the embedded guard; with Redis, that of the workers'
      : `guard: [${guards.map(text).join(', ')}]`,
    ...keptLines(KEPT, from, path),
    ...(given(POLICY, from) === null ? ['# policy: ./policy.yaml'] : []),
    'output:',
    `  dir: ${path(output.dir)}`,
    `  formats: [${output.formats.join(', ')}]`,
    '# failIf:',
    '#   flaggedRate: 0.01',
    '',
  ].join('\n');
}

/** The given ones of these settings, as lines of a job file. */
function keptLines(settings: SettingTable, from: Sources, path: (absolute: string) => string): string[] {
  return Object.values(settings).flatMap((setting) => {
    const found = given(setting, from);
    if (found === null) return [];
    const [{ value }] = found.texts;
    const namesFile = setting.kind.unit?.startsWith('file') === true || setting.kind.unit === 'dir';
    const isWord = /^\w+$/.test(value);
    if (namesFile && value !== 'off') return [`${setting.key}: ${path(resolve(found.folder, value))}`];
    return [`${setting.key}: ${isWord ? value : text(value)}`];
  });
}

function sourceLines(config: SourceConfig, path: string, found: SourceForecast): string[] {
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
      : [set(true, 'asStream', 'true'), set(true, 'streamCadence', String(asStream.cadenceChunks))]),
  ];
}

function comments({ files, kinds, to_judge, not_judged, estimated, tables }: SourceForecast): string[] {
  const items = [...Object.values(to_judge), ...Object.values(not_judged)].reduce(
    (all, count) => all + count,
    0,
  );
  const listed = (counts: Readonly<Record<string, number>>): string =>
    Object.entries(counts)
      .map(([key, count]) => `${key} ${count}`)
      .join(', ');
  return [
    `${files} ${plural(files, 'file')} (${listed(kinds)}); ${estimated ? 'about ' : ''}${items} ${plural(items, 'item')}`,
    ...(Object.keys(not_judged).length > 0 ? [`not judged: ${listed(not_judged)}`] : []),
    ...tables.slice(0, MAX_TABLES).map(({ path, judged, not_judged: others }) => {
      return `${quoteName(path)}: judged ${judged.join(', ') || 'no column'}; not judged ${others.join(', ') || 'none'}`;
    }),
  ];
}

/** A text in double quotes, whose escapes YAML shares with JSON. */
function text(value: string): string {
  return JSON.stringify(value);
}
