import type { Command } from 'commander';
import { GUARD_TLS_SETTINGS } from '../../config/keys/guard-tls.ts';
import { resolveRunConfig } from '../../config/resolve.ts';
import { JSON_OUTPUT } from '../../config/settings/entries/commands.ts';
import { CANARIES, EXPECT_FINGERPRINT, GUARD, GUARD_POLICY } from '../../config/settings/entries/guard.ts';
import {
  FRAMES,
  LONG_AUDIO_MODE,
  VIDEO_FRAMES,
  VIDEO_INTERVAL,
  POLICY,
  REUSE,
  STORE,
} from '../../config/settings/entries/judging.ts';
import {
  UNPACK_DEPTH,
  UNPACK_PARTS,
  UNPACK_RATIO,
  UNPACK_SIZE,
} from '../../config/settings/entries/unpack.ts';
import { FORMAT, NAME, OUT } from '../../config/settings/entries/output.ts';
import { PREFLIGHT_RATE } from '../../config/settings/entries/sampling.ts';
import {
  AS_STREAM,
  AUDIT,
  ENCODING,
  HEADER,
  ID_COLUMN,
  LAYOUT,
  STREAM_CADENCE,
  TEXT_COLUMN,
} from '../../config/settings/entries/sources.ts';
import { MAX_WAIT } from '../../config/settings/entries/fleet.ts';
import { FOR } from '../../config/settings/entries/file-settings.ts';
import { type Flags, resolveSettings } from '../../config/settings/given.ts';
import type { CommandContext } from '../context.ts';
import { examples, newCommand } from '../new-command.ts';

/** Settings that describe the sources and how a run would judge them. */
const RUN_SETTINGS = {
  guard: GUARD,
  ...GUARD_TLS_SETTINGS,
  policy: POLICY,
  textColumn: TEXT_COLUMN,
  idColumn: ID_COLUMN,
  encoding: ENCODING,
  layout: LAYOUT,
  header: HEADER,
  audit: AUDIT,
  asStream: AS_STREAM,
  streamCadence: STREAM_CADENCE,
  for: FOR,
  frames: FRAMES,
  unpackDepth: UNPACK_DEPTH,
  unpackParts: UNPACK_PARTS,
  unpackSize: UNPACK_SIZE,
  unpackRatio: UNPACK_RATIO,
  longAudio: LONG_AUDIO_MODE,
  videoInterval: VIDEO_INTERVAL,
  videoFrames: VIDEO_FRAMES,
  out: OUT,
  store: STORE,
  noReuse: REUSE,
  format: FORMAT,
  name: NAME,
  expectFingerprint: EXPECT_FINGERPRINT,
  guardPolicy: GUARD_POLICY,
  canaries: CANARIES,
  maxWait: MAX_WAIT,
};

const OWN_SETTINGS = {
  rate: PREFLIGHT_RATE,
  json: JSON_OUTPUT,
};

/** `preflight <path… or job.yaml>`: estimate what a run would find and how long it would take. */
export function preflightCommand(context: CommandContext): Command {
  return newCommand('preflight', context, { ...RUN_SETTINGS, ...OWN_SETTINGS })
    .summary('forecast a run: items, columns, time, space')
    .description(
      'Read the sources of a run and forecast it: items by kind, what cannot be judged and why, columns, time and disk ' +
        'space. Large sources are read in part. Asks no guard and writes nothing.',
    )
    .argument('<path...>', 'files, folders, globs; or one job file (.yaml, .yml)')
    .addHelpText(
      'after',
      examples([
        ['guardsweep preflight ./uploads', 'items, columns, and time as in the last run'],
        ['guardsweep preflight ./uploads --rate 500', 'with a guard that judges 500 items a second'],
        ['guardsweep preflight job.yaml', 'the sources of a job file'],
      ]),
    )
    .action(async (paths: string[], flags: Flags) => {
      const { env, cwd, stdout, interrupts } = context;
      const own = await resolveSettings(OWN_SETTINGS, { flags, env, cwd });
      const { config } = await resolveRunConfig({ paths, flags, env, cwd });
      const { preflight } = await import('../../preflight/preflight.ts');
      const { forecastLines } = await import('../../preflight/forecast-text.ts');
      const forecast = await preflight(config, { rate: own.rate, signal: interrupts.drain });
      if (own.json) stdout.json(forecast, 2);
      else stdout.lines(forecastLines(forecast));
    });
}
