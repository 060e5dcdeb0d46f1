import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { JSON_OUTPUT } from '../../config/settings/entries/commands.ts';
import { CLEANED_STORE } from '../../config/settings/entries/judging.ts';
import { RUNS_FOLDER } from '../../config/settings/entries/output.ts';
import { type Flags, resolveSettings } from '../../config/settings/given.ts';
import { Failure } from '../../domain/failure.ts';
import { plural } from '../../domain/text/plural.ts';
import { runKey, runKeyFile } from '../../runs/trust/run-key.ts';
import type { CommandContext } from '../context.ts';
import { examples, newCommand } from '../new-command.ts';
import { mebibytes } from '../run/table.ts';

const SETTINGS = { out: RUNS_FOLDER, store: CLEANED_STORE, json: JSON_OUTPUT };

/** `gc`: remove from the verdict store what no kept run uses. */
export function gcCommand(context: CommandContext): Command {
  return newCommand('gc', context, SETTINGS)
    .summary('remove verdicts that no kept run uses')
    .description(
      'Remove from the verdict store what no run in --out uses, and make its file smaller.\n' +
        'The store is rebuilt from the finished runs that you created here and whose records pass verification; entries of ' +
        'other runs are copied from the old store, which the new one then replaces in one step. ' +
        'A run in progress keeps using the old one: what it adds is lost, and judged again when needed.',
    )
    .addHelpText(
      'after',
      examples([
        ['guardsweep gc', 'after run directories in ./runs were deleted'],
        ['guardsweep gc --out /data/runs --store /data/verdicts --json', 'the same for a program'],
      ]),
    )
    .action(async (flags: Flags) => {
      const { out, store, json } = await resolveSettings(SETTINGS, { flags, ...context });
      const found = await stat(out).catch(() => null);
      if (found?.isDirectory() !== true)
        throw new Failure('usage', `${out} is not a folder: name that of the runs with --out`);
      const [{ VerdictStore }, { RecordedRuns }, { removeAbandoned }] = await Promise.all([
        import('../../store/verdict-store.ts'),
        import('../../runs/reuse/recorded-verdicts.ts'),
        import('../../runs/retention/remove-abandoned.ts'),
      ]);
      await removeAbandoned(out);
      const dir = store ?? join(out, '.store');
      const key = await runKey(runKeyFile(context.env));
      const signal = context.interrupts.drain;
      const runs = new RecordedRuns(out, key);
      const size = await VerdictStore.collectGarbage(dir, {
        ...{ key, say: context.stderr.say, signal },
        recorded: () => runs.verdicts(signal),
        isUnfinished: (run) => runs.others.includes(run),
      });
      if (size === null) throw new Failure('service', `the verdict store ${dir} was not changed`);
      const { before, after } = size;
      const removed = Math.max(0, before.verdicts - after.verdicts);
      const from = { finished: runs.read.length, others: runs.others.length };
      if (json) {
        context.stdout.json({ store: dir, runs: from, removed, before, after });
        return;
      }
      context.stdout.lines([
        `Removed ${counted(removed)} ${plural(removed, 'verdict')}; ${counted(after.verdicts)} kept`,
        `Size: ${mebibytes(before.bytes)} before, ${mebibytes(after.bytes)} now`,
        `Runs: ${counted(from.finished)} finished, ${counted(from.others)} not finished or damaged`,
        `Store: ${dir}`,
      ]);
    });
}

function counted(count: number): string {
  return count.toLocaleString('en-US');
}
