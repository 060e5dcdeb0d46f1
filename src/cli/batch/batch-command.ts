import { resolve } from 'node:path';
import { Argument, type Command } from 'commander';
import { afterFinishOf } from '../../config/after-finish.ts';
import { storeIn } from '../../config/resolve.ts';
import { EXPORT_CLEAN, HEAD_FILE, KEEP, ON_FINISH, REPORT } from '../../config/settings/entries/after-run.ts';
import { JSON_RESULT, QUIET } from '../../config/settings/entries/commands.ts';
import { ALLOW_EMPTY, ALLOW_ERRORS, FAIL_IF } from '../../config/settings/entries/gates.ts';
import { CANARIES, GUARD, GUARD_POLICY } from '../../config/settings/entries/guard.ts';
import { FRAMES, LONG_AUDIO_MODE, POLICY } from '../../config/settings/entries/judging.ts';
import {
  CSV_SEPARATOR,
  FORMAT,
  INCLUDE_CONTENT,
  NAME,
  OUT,
  REQUESTS_FOLDER,
} from '../../config/settings/entries/output.ts';
import { LIMIT, SAMPLE, SEED } from '../../config/settings/entries/sampling.ts';
import {
  AUDIT,
  ENCODING,
  HEADER,
  ID_COLUMN,
  LAYOUT,
  TEXT_COLUMN,
} from '../../config/settings/entries/sources.ts';
import { type Flags, givenValueOf, valuesOf } from '../../config/settings/given.ts';
import { Failure } from '../../domain/failure.ts';
import type { CommandContext, LoadRuns, ReportStatus } from '../context.ts';
import { examples, newCommand } from '../new-command.ts';
import { writeRequests } from './write-requests.ts';

/** How the run is made that the requests are of. */
const EXPORT_SETTINGS = {
  requests: REQUESTS_FOLDER,
  guard: GUARD,
  guardPolicy: GUARD_POLICY,
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
  limit: LIMIT,
  sample: SAMPLE,
  seed: SEED,
  frames: FRAMES,
  longAudio: LONG_AUDIO_MODE,
  name: NAME,
  canaries: CANARIES,
  failIf: FAIL_IF,
  allowErrors: ALLOW_ERRORS,
  allowEmpty: ALLOW_EMPTY,
};

const IMPORT_SETTINGS = {
  noReport: REPORT,
  exportClean: EXPORT_CLEAN,
  keep: KEEP,
  headFile: HEAD_FILE,
  onFinish: ON_FINISH,
};

const COMMON_SETTINGS = { out: OUT, json: JSON_RESULT, quiet: QUIET };

/** `batch export <path…>` and `batch import <folder> <results…>`: a run whose guard is asked through OpenAI's Batch API. */
export function batchCommand(context: CommandContext, loadRuns: LoadRuns, report: ReportStatus): Command {
  const settings = { ...EXPORT_SETTINGS, ...COMMON_SETTINGS, ...IMPORT_SETTINGS };
  return newCommand('batch', context, settings)
    .summary("write a run's requests for OpenAI's Batch API, and take the results as a run")
    .description(
      'export: read files, folders and globs, or what a job file names, and write what the guard would be asked as request ' +
        "files of OpenAI's Batch API. Nothing is sent.\n" +
        'import: take the output and error files of the batches as a run, with the settings of the export and the flags ' +
        '--out, --no-report, --export-clean, --keep, --head-file, --on-finish, --json, --quiet. The last line on stdout is the ' +
        'run directory. A request without a result is an error of its item; retry asks the guard for it.',
    )
    .addArgument(new Argument('<action>', 'export or import').choices(['export', 'import']))
    .argument('<path...>', 'export: as for enqueue; import: the folder of --requests, then the result files')
    .addHelpText(
      'after',
      examples([
        [
          'guardsweep batch export comments.csv --guard openai+https://api.openai.com --requests batch',
          'request files for /v1/moderations',
        ],
        ['guardsweep batch import batch output.jsonl errors.jsonl', 'their results as a run'],
      ]),
    )
    .action(async (action: 'export' | 'import', paths: string[], flags: Flags) => {
      const own = action === 'export' ? EXPORT_SETTINGS : IMPORT_SETTINGS;
      const known = { ...own, ...COMMON_SETTINGS };
      const other = Object.keys(flags).find((name) => !Object.hasOwn(known, name));
      if (other !== undefined) {
        const { flag } = settings[other as keyof typeof settings];
        throw new Failure('usage', `${flag}: batch ${action} does not take it; see: guardsweep help batch`);
      }
      if (action === 'export') await writeRequests(paths, flags, context);
      else report(await importResults(paths, flags, context, loadRuns));
    });
}

/** `batch import`: takes the results of exported requests as a run. Returns its exit status. */
async function importResults(
  [given, ...results]: readonly string[],
  flags: Flags,
  context: CommandContext,
  loadRuns: LoadRuns,
): Promise<number> {
  const { env, cwd, interrupts } = context;
  const from = { flags, env, cwd };
  if (results.length === 0)
    throw new Failure(
      'usage',
      'name the folder of the request files, and then the result files of their batches',
    );
  const { readBatchFolder, namedResults } = await import('../../runs/batch/batch-folder.ts');
  const folder = resolve(cwd, given!);
  const exported = await readBatchFolder(folder);
  const out = await givenValueOf(OUT, from);
  const config = {
    ...exported,
    ...(out !== null && { output: { ...exported.output, dir: out }, store: storeIn(out) }),
    batch: await namedResults(
      folder,
      results.map((path) => resolve(cwd, path)),
      interrupts.drain,
    ),
  };
  const { json, quiet } = await valuesOf({ json: JSON_RESULT, quiet: QUIET }, from);
  return (await loadRuns()).enqueue(config, {
    ...{ ...context, json, quiet, typed: null, fleet: null, detach: false },
    guardTls: { ca: null, cert: null, key: null },
    startWaitMs: 0,
    afterFinish: await afterFinishOf(from),
  });
}
