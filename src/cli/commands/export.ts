import type { Command } from 'commander';
import { JSON_OUTPUT, TRUST_RUN } from '../../config/settings/entries/commands.ts';
import {
  ANNOTATE,
  ANNOTATE_KEY,
  CLEAN,
  EXPORT_LABELS,
  IGNORE_REVIEWS,
  KEEP,
} from '../../config/settings/entries/after-run.ts';
import { RUNS_FOLDER } from '../../config/settings/entries/output.ts';
import { type Flags, resolveSettings } from '../../config/settings/given.ts';
import { Failure } from '../../domain/failure.ts';
import type { ExportResult } from '../../report/export/export-run.ts';
import { runKeyFile } from '../../runs/trust/run-key.ts';
import type { CommandContext, ReportStatus } from '../context.ts';
import { examples, newCommand } from '../new-command.ts';
import { exportLines, labelLines } from '../run/export-lines.ts';
import { resolveRunDirectory } from '../run/run-directory.ts';

const SETTINGS = {
  clean: CLEAN,
  annotate: ANNOTATE,
  keep: KEEP,
  ignoreReviews: IGNORE_REVIEWS,
  annotateKey: ANNOTATE_KEY,
  labels: EXPORT_LABELS,
  trustRun: TRUST_RUN,
  out: RUNS_FOLDER,
  json: JSON_OUTPUT,
};

/** `export <run dir>`: the clean or the annotated corpus of a finished run, or its reviews as labels. */
export function exportCommand(context: CommandContext, report: ReportStatus): Command {
  return newCommand('export', context, SETTINGS)
    .summary('write the clean rows of a run, all rows with what was found, or labels')
    .description(
      'Write the clean rows of a finished run, or all rows with what was found, in the layout of their files.\n' +
        'One table becomes a file; anything else becomes a folder. Rows left out are listed beside it, with the reasons, ' +
        'in .rejected.jsonl. The clean file never has rows that were not judged, or that a reviewer blocked or put in a category. ' +
        'Neither file has restricted rows. ' +
        'Status 5 when something was left out because it was not judged or has changed. ' +
        'Can also write the decisions of reviewers as labels. Overwrites nothing.',
    )
    .argument(
      '<run-dir>',
      'run directory, as enqueue printed it; or in --out the name of a run, its beginning, or latest',
    )
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
        ['guardsweep export 20261121T020000Z-train-ab12 --labels labels.jsonl', 'what people decided'],
      ]),
    )
    .action(async (given: string, flags: Flags) => {
      const values = await resolveSettings(SETTINGS, { flags, ...context });
      const { clean, annotate, keep, ignoreReviews, annotateKey, labels, trustRun, json } = values;
      if (clean === null && annotate === null && labels === null) {
        throw new Failure('usage', 'name what to write: --clean FILE, --annotate FILE or --labels FILE');
      }
      if (keep !== null && clean === null) {
        throw new Failure('usage', '--keep is about the clean file: give --clean FILE too');
      }
      if (ignoreReviews && clean === null) {
        throw new Failure('usage', '--ignore-reviews is about the clean file: give --clean FILE too');
      }
      const runDir = resolveRunDirectory(given, context.cwd, values.out);
      const signal = context.interrupts.drain;
      const keyFile = runKeyFile(context.env);
      const results: ExportResult[] = [];
      if (clean !== null || annotate !== null) {
        await assertApart(clean, annotate);
        const { say } = context.stderr;
        const { admitRun } = await import('../../runs/trust/admit-run.ts');
        await admitRun(runDir, { keyFile, trusted: trustRun, work: 'export', say, signal });
        const [{ openFinishedRun }, { exportRun }, { exportStatus }] = await Promise.all([
          import('../../report/export/export-run.ts'),
          import('../../report/export/export-run.ts'),
          import('../../report/export/reasons.ts'),
        ]);
        const finished = await openFinishedRun(runDir, signal);
        if (clean !== null) {
          const what = { kind: 'clean', keepReview: keep === 'review', ignoreReviews } as const;
          results.push(await exportRun(finished, { what, out: clean, signal }));
        }
        if (annotate !== null) {
          const what = { kind: 'annotate', key: annotateKey } as const;
          results.push(await exportRun(finished, { what, out: annotate, signal }));
        }
        const { allowErrors } = finished.run.record.config;
        report(Math.max(...results.map((result) => exportStatus(result, allowErrors))));
      }
      const { exportLabels } = await import('../../dashboard/reviews/export-labels.ts');
      const exported = labels === null ? [] : [await exportLabels(runDir, labels, { keyFile, signal })];
      if (json) context.stdout.json([...results, ...exported]);
      else context.stdout.lines([...results.flatMap(exportLines), ...exported.flatMap(labelLines)]);
    });
}

async function assertApart(clean: string | null, annotate: string | null): Promise<void> {
  if (clean === null || annotate === null) return;
  const { destinationOf } = await import('../../report/export/destination.ts');
  if (destinationOf(clean).rejected !== destinationOf(annotate).rejected) return;
  throw new Failure('usage', '--clean and --annotate need names that differ in more than the extension');
}
