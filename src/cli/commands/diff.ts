import type { Command } from 'commander';
import { JSON_OUTPUT } from '../../config/settings/entries/commands.ts';
import { DIFFERENCES_OUT } from '../../config/settings/entries/after-run.ts';
import { type Flags, resolveSettings } from '../../config/settings/given.ts';
import type { CommandContext } from '../context.ts';
import { examples, newCommand } from '../new-command.ts';
import { diffLines } from '../run/comparison-lines.ts';
import { resolveRunDirectory } from '../run/run-directory.ts';

const SETTINGS = { out: DIFFERENCES_OUT, json: JSON_OUTPUT };

/** `diff <run A> <run B>`: how two finished runs differ. */
export function diffCommand(context: CommandContext): Command {
  return newCommand('diff', context, SETTINGS)
    .summary('compare two finished runs by content')
    .description(
      'Compare two finished runs: which decisions changed, and how scores shifted. ' +
        'Items are paired by content, so files may have moved. Status 0 whether they differ or not. Changes nothing.',
    )
    .argument(
      '<run-a>',
      'run directory, as enqueue printed it, or the name of a run in ./runs, its beginning, or latest',
    )
    .argument('<run-b>', 'the same of the run to compare with it')
    .addHelpText(
      'after',
      examples([
        [
          'guardsweep diff 20261120T020000Z-nightly-cd34 20261121T020000Z-nightly-ab12',
          'what changed since yesterday',
        ],
        ['guardsweep diff runs/old runs/new --out differences.jsonl', 'with a list of the differences'],
      ]),
    )
    .action(async (givenA: string, givenB: string, flags: Flags) => {
      const { out, json } = await resolveSettings(SETTINGS, { flags, ...context });
      const signal = context.interrupts.drain;
      const [{ openFinishedVerdicts }, { LineFile }, { diffRuns }] = await Promise.all([
        import('../../analysis/finished-verdicts.ts'),
        import('../../analysis/line-file.ts'),
        import('../../analysis/diff-runs.ts'),
      ]);
      const a = await openFinishedVerdicts(resolveRunDirectory(givenA, context.cwd), signal);
      const b = await openFinishedVerdicts(resolveRunDirectory(givenB, context.cwd), signal);
      const file = out === null ? null : await LineFile.create(out);
      try {
        const result = await diffRuns(a, b, { out: file, signal });
        if (json) context.stdout.json(result);
        else context.stdout.lines(diffLines(result));
      } finally {
        await file?.close();
      }
    });
}
