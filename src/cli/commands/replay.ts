import type { Command } from 'commander';
import { JSON_OUTPUT } from '../../config/settings/entries/commands.ts';
import { POLICY } from '../../config/settings/entries/judging.ts';
import { CHANGED_OUT, LABELS, MIN_PRECISION, MIN_RECALL } from '../../config/settings/entries/after-run.ts';
import { type Flags, resolveSettings } from '../../config/settings/given.ts';
import { Failure } from '../../domain/failure.ts';
import type { CommandContext } from '../context.ts';
import { examples, newCommand } from '../new-command.ts';
import { replayLines } from '../run/comparison-lines.ts';
import { resolveRunDirectory } from '../run/run-directory.ts';

const SETTINGS = {
  policy: POLICY,
  labels: LABELS,
  minPrecision: MIN_PRECISION,
  minRecall: MIN_RECALL,
  out: CHANGED_OUT,
  json: JSON_OUTPUT,
};

/** `replay <run dir>`: apply another policy to the scores of a finished run. */
export function replayCommand(context: CommandContext): Command {
  return newCommand('replay', context, SETTINGS)
    .summary('apply another policy to the scores of a finished run')
    .description(
      'Apply another policy to the scores that a finished run recorded, without a guard: which decisions change, and how ' +
        'the review queue grows or shrinks. With labels, also show the precision and recall of thresholds. ' +
        'A score that the guard did not give never counts as zero. Changes nothing.',
    )
    .argument(
      '<run-dir>',
      'run directory, as enqueue printed it, or the name of a run in ./runs, its beginning, or latest',
    )
    .addHelpText(
      'after',
      examples([
        ['guardsweep replay runs/20261121T020000Z-nightly-ab12 --policy strict.yaml', 'what would change'],
        [
          'guardsweep replay 20261121T020000Z-nightly-ab12 --labels labels.csv --min-precision 0.9',
          'which threshold is right in 9 of 10 cases',
        ],
      ]),
    )
    .action(async (given: string, flags: Flags) => {
      const values = await resolveSettings(SETTINGS, { flags, ...context });
      const { labels: labelsFile, minPrecision: precision, minRecall: recall, out, json } = values;
      if (values.policy === null && labelsFile === null) {
        throw new Failure('usage', 'name what to apply: --policy FILE, --labels FILE, or both');
      }
      if (labelsFile === null && (precision !== null || recall !== null)) {
        throw new Failure('usage', '--min-precision and --min-recall need labels: give --labels FILE too');
      }
      const signal = context.interrupts.drain;
      const [{ openFinishedVerdicts }, { LineFile }, { readLabels }, { replay }] = await Promise.all([
        import('../../analysis/finished-verdicts.ts'),
        import('../../analysis/line-file.ts'),
        import('../../analysis/labels/read-labels.ts'),
        import('../../analysis/replay.ts'),
      ]);
      const labels = labelsFile === null ? null : await readLabels(labelsFile);
      const run = await openFinishedVerdicts(resolveRunDirectory(given, context.cwd), signal);
      const policy = values.policy ?? run.record.config.policy;
      const file = out === null ? null : await LineFile.create(out);
      try {
        const result = await replay(run, {
          policy,
          labels,
          wanted: { precision, recall },
          out: file,
          signal,
        });
        if (json) context.stdout.json(result);
        else context.stdout.lines(replayLines(result));
      } finally {
        await file?.close();
      }
    });
}
