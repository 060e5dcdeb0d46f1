import type { Command } from 'commander';
import { JSON_RESULT, TRUST_RUN } from '../../config/settings/entries/commands.ts';
import { ANNOTATE, ANNOTATE_KEY, CLEAN, KEEP } from '../../config/settings/entries/export.ts';
import { valuesOf, type Flags } from '../../config/settings/given.ts';
import { Failure } from '../../domain/failure.ts';
import { runKeyFile } from '../../runs/trust/run-key.ts';
import { admitRun } from '../../runs/trust/admit-run.ts';
import type { CommandContext, ReportStatus } from '../context.ts';
import { examples, newCommand } from '../new-command.ts';
import { exportLines } from '../run/export-lines.ts';
import { runDirectoryOf } from '../run/run-directory.ts';

const SETTINGS = {
  clean: CLEAN,
  annotate: ANNOTATE,
  keep: KEEP,
  annotateKey: ANNOTATE_KEY,
  trustRun: TRUST_RUN,
  json: JSON_RESULT,
};

/** `export <run dir>`: the clean or the annotated corpus of a finished run. */
export function exportCommand(context: CommandContext, report: ReportStatus): Command {
  return newCommand('export', context, SETTINGS)
    .summary('write the clean rows of a run, or all rows with what was found')
    .description(
      'Write the clean rows of a finished run, or all rows with what was found, in the layout of their files.\n' +
        'One table becomes a file; anything else becomes a folder. What is left out is listed beside it, with the reasons, ' +
        'in .rejected.jsonl. What was not judged is never in the clean file. ' +
        'Status 5 when something was left out because it was not judged or has changed. Overwrites nothing.',
    )
    .argument('<run-dir>', 'run directory, as enqueue printed it, or the name of a run in ./runs')
    .addHelpText(
      'after',
      examples([
        ['guardsweep export runs/20261121T020000Z-train-ab12 --clean clean.jsonl', 'the cleaned set'],
        [
          'guardsweep export 20261121T020000Z-train-ab12 --clean clean --keep review',
          'also what is to be reviewed',
        ],
        [
          'guardsweep export 20261121T020000Z-train-ab12 --annotate annotated.csv',
          'all rows, with what was found',
        ],
      ]),
    )
    .action(async (given: string, flags: Flags) => {
      const values = await valuesOf(SETTINGS, { flags, ...context });
      const { clean, annotate, keep, annotateKey, trustRun, json } = values;
      if (clean === null && annotate === null) {
        throw new Failure('usage', 'name what to write: --clean FILE, --annotate FILE, or both');
      }
      if (keep !== null && clean === null) {
        throw new Failure('usage', '--keep is about the clean file: give --clean FILE too');
      }
      const { destinationOf } = await import('../../report/export/output/destination.ts');
      if (
        clean !== null &&
        annotate !== null &&
        destinationOf(clean).rejected === destinationOf(annotate).rejected
      ) {
        throw new Failure(
          'usage',
          '--clean and --annotate need names that differ in more than the extension',
        );
      }
      const runDir = runDirectoryOf(given, context.cwd);
      const say = (line: string): void => context.stderr.line(`guardsweep: ${line}`);
      await admitRun(runDir, { keyFile: runKeyFile(context.env), trusted: trustRun, work: 'export', say });
      const [{ openFinishedRun }, { exportRun }, { exportStatus }] = await Promise.all([
        import('../../report/export/finished-record.ts'),
        import('../../report/export/export-run.ts'),
        import('../../report/export/export-status.ts'),
      ]);
      const signal = context.interrupts.drain;
      const finished = await openFinishedRun(runDir, signal);
      const results = [];
      if (clean !== null) {
        const what = { kind: 'clean', keepReview: keep === 'review' } as const;
        results.push(await exportRun(finished, { what, out: clean, signal }));
      }
      if (annotate !== null) {
        const what = { kind: 'annotate', key: annotateKey } as const;
        results.push(await exportRun(finished, { what, out: annotate, signal }));
      }
      if (json) context.stdout.json(results);
      else context.stdout.lines(results.flatMap(exportLines));
      const { allowErrors } = finished.run.record.config;
      report(Math.max(...results.map((result) => exportStatus(result, allowErrors))));
    });
}
