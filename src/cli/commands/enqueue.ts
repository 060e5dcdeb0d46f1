import type { Command } from 'commander';
import { isJobFile } from '../../config/job-file/job-file.ts';
import { GUARD_TLS_SETTINGS } from '../../config/keys/guard-tls.ts';
import { resolveRunConfig } from '../../config/resolve.ts';
import type { RunConfig } from '../../config/run-config.ts';
import { EXPORT_CLEAN, HEAD_FILE, KEEP, ON_FINISH, REPORT } from '../../config/settings/entries/after-run.ts';
import { JSON_OUTPUT, QUIET } from '../../config/settings/entries/commands.ts';
import { MAX_WAIT, PRIORITY, REDIS, START_WAIT } from '../../config/settings/entries/fleet.ts';
import { ALLOW_EMPTY, ALLOW_ERRORS, FAIL_IF } from '../../config/settings/entries/gates.ts';
import { CANARIES, EXPECT_FINGERPRINT, GUARD, GUARD_POLICY } from '../../config/settings/entries/guard.ts';
import {
  FRAMES,
  LONG_AUDIO_MODE,
  VIDEO_FRAMES,
  VIDEO_INTERVAL,
  POLICY,
  TRUST_DECLARED,
  REUSE,
  STORE,
} from '../../config/settings/entries/judging.ts';
import {
  UNPACK_DEPTH,
  UNPACK_PARTS,
  UNPACK_RATIO,
  UNPACK_SIZE,
} from '../../config/settings/entries/unpack.ts';
import { CSV_SEPARATOR, FORMAT, INCLUDE_CONTENT, NAME, OUT } from '../../config/settings/entries/output.ts';
import { LIMIT, SAMPLE, SEED } from '../../config/settings/entries/sampling.ts';
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
import { FOR } from '../../config/settings/entries/file-settings.ts';
import { type Flags, resolveSettings } from '../../config/settings/given.ts';
import { isNewStdinPath, removeStdin, saveStdin } from '../../files/stdin-file.ts';
import { quoteName } from '../../domain/text/escape-text.ts';
import type { CommandContext, FeedUi, LoadRuns, ReportStatus } from '../context.ts';
import { resolveFleet } from '../flags/fleet-access.ts';
import { examples, newCommand, shortenHelp } from '../new-command.ts';
import { tell } from '../run/run-report.ts';

/** In the order in which the help lists them. */
const SETTINGS = {
  out: OUT,
  guard: GUARD,
  ...GUARD_TLS_SETTINGS,
  policy: POLICY,
  format: FORMAT,
  csvSeparator: CSV_SEPARATOR,
  includeContent: INCLUDE_CONTENT,
  textColumn: TEXT_COLUMN,
  idColumn: ID_COLUMN,
  encoding: ENCODING,
  layout: LAYOUT,
  header: HEADER,
  audit: AUDIT,
  asStream: AS_STREAM,
  streamCadence: STREAM_CADENCE,
  for: FOR,
  limit: LIMIT,
  sample: SAMPLE,
  seed: SEED,
  frames: FRAMES,
  unpackDepth: UNPACK_DEPTH,
  unpackParts: UNPACK_PARTS,
  unpackSize: UNPACK_SIZE,
  unpackRatio: UNPACK_RATIO,
  longAudio: LONG_AUDIO_MODE,
  videoInterval: VIDEO_INTERVAL,
  videoFrames: VIDEO_FRAMES,
  name: NAME,
  expectFingerprint: EXPECT_FINGERPRINT,
  store: STORE,
  noReuse: REUSE,
  trustDeclared: TRUST_DECLARED,
  guardPolicy: GUARD_POLICY,
  canaries: CANARIES,
  maxWait: MAX_WAIT,
  failIf: FAIL_IF,
  allowErrors: ALLOW_ERRORS,
  allowEmpty: ALLOW_EMPTY,
  redis: REDIS,
  priority: PRIORITY,
  noReport: REPORT,
  exportClean: EXPORT_CLEAN,
  keep: KEEP,
  headFile: HEAD_FILE,
  onFinish: ON_FINISH,
  startWait: START_WAIT,
  json: JSON_OUTPUT,
  quiet: QUIET,
};

/** Flags listed in the short help. */
const USUAL = [
  [OUT, 'folder for the run directory (default: runs)'],
  [GUARD, 'your guard (default: the embedded demonstration)'],
  [POLICY, 'thresholds for allow, review and block'],
  [TEXT_COLUMN, 'column of tables to judge; repeatable'],
  [ENCODING, 'encoding of the sources, such as windows-1252'],
  [LIMIT, 'trial run: judge only the first records'],
  [NAME, 'name of the run'],
  [FAIL_IF, 'status 3 above a rate, as flagged-rate=0.01'],
  [EXPORT_CLEAN, 'write the rows that are allowed to this path'],
  [QUIET, 'show no progress and no notices'],
] as const;

/** `enqueue <path… or job.yaml>`: create a run and complete it. */
export function enqueueCommand(context: CommandContext, loadRuns: LoadRuns, report: ReportStatus): Command {
  return shortenHelp(newCommand('enqueue', context, SETTINGS), USUAL)
    .summary('moderate files, folders and globs, and leave an audit record')
    .description(
      'Moderate files, folders and globs, rows from stdin (-), or what a job file names, and leave an audit record.\n' +
        'The last line on stdout is the run directory. Flags win over the job file, which wins over the environment.',
    )
    .argument(
      '<path...>',
      'files, folders, globs, s3://bucket/prefix, - for stdin; or one job file (.yaml, .yml)',
    )
    .addHelpText(
      'after',
      examples([
        ['guardsweep enqueue ./uploads', 'moderate a folder with the embedded demonstration guard'],
        [
          'guardsweep enqueue comments.csv --text-column body --guard grpc://gpu-1:8001',
          'one column of a table, on a real guard',
        ],
        [
          "guardsweep enqueue ./exports --for '*.de.csv' --text-column Kommentartext",
          'another column in some of the files',
        ],
        [
          'guardsweep enqueue train.jsonl --guard grpc://gpu-1:8001 --fail-if flagged-rate=0.01',
          'a gate in a pipeline',
        ],
        ['guardsweep enqueue jobs/nightly-rescan.yaml', 'what a job file says'],
        ['zcat comments.csv.gz | guardsweep enqueue -', 'rows from stdin, which the run directory keeps'],
        ['guardsweep enqueue ./uploads --redis redis://queue-1:6379', 'judged by the fleet'],
      ]),
    )
    .action(async (paths: string[], flags: Flags, command: Command) => {
      const { env, cwd } = context;
      const fleet = await resolveFleet(flags, context);
      const output = await resolveSettings({ json: JSON_OUTPUT, quiet: QUIET }, { flags, ...context });
      const input = { paths, flags, env, cwd, fleet: fleet !== null, readsStdin: true };
      const { config, guardTls, startWaitMs, afterFinish } = await resolveRunConfig(input);
      const typed = command.parent?.args.slice(1) ?? paths;
      const ui = { ...context, ...output, fleet, typed, guardTls, startWaitMs, afterFinish };
      // A job file is always the only argument.
      if (isJobFile(paths[0]!)) tell(ui, jobFileNotice(paths[0]!, config, ui));
      const { loadEmbeddedGuards } = await import('../../guard-setup/guard-endpoints.ts');
      const endUnused = loadEmbeddedGuards(fleet === null ? config.guards : []);
      const stdin = config.sources.find(({ path }) => isNewStdinPath(path, config.output.dir))?.path;
      try {
        if (stdin !== undefined) {
          if (process.stdin.isTTY) tell(ui, 'reading rows from the terminal until Ctrl-D');
          await saveStdin(stdin, process.stdin, context.interrupts.drain);
        }
        report(await (await loadRuns()).enqueue(config, ui));
      } finally {
        if (stdin !== undefined) await removeStdin(stdin);
        await endUnused();
      }
    });
}

/** Maximum names per list: corpora, guards, words of a command. */
const MAX_NAMED = 10;

/**
 * One line about what a run with this job file and these flags does. It shows a user who meant to name a corpus
 * (`uploads/*`) that a job file runs instead. `path` is as the user typed it.
 */
function jobFileNotice(
  path: string,
  config: RunConfig,
  { guardTls, afterFinish: { headFile, onFinish, exportClean } }: Pick<FeedUi, 'guardTls' | 'afterFinish'>,
): string {
  const guards = config.guards.length === 0 ? 'those of the workers' : named(config.guards, ', ');
  const parts = [
    `reads ${named(
      config.sources.map((source) => source.path),
      ', ',
    )}`,
    `guards: ${guards}`,
    `run directory in ${quoteName(config.output.dir)}`,
  ];
  if (guardTls.cert !== null) parts.push(`presents the certificate in ${quoteName(guardTls.cert.value)}`);
  if (exportClean !== null) parts.push(`writes clean rows to ${quoteName(exportClean.out)}`);
  if (headFile !== null) parts.push(`notes heads in ${quoteName(headFile)}`);
  if (onFinish.length > 0) parts.push(`then runs ${named(onFinish, ' ')}`);
  return `job file ${quoteName(path)}: ${parts.join('; ')}`;
}

function named(names: readonly string[], separator: string): string {
  const some = names.slice(0, MAX_NAMED).map((name) => quoteName(name));
  const more = names.length - some.length;
  return [...some, ...(more > 0 ? [`and ${more} more`] : [])].join(separator);
}
