import type { Command } from 'commander';
import { Failure } from '../../domain/failure.ts';
import type { CommandContext, ReportStatus, RunCommands } from '../context.ts';
import { flag, jsonFlag } from '../flags.ts';
import { examples, newCommand } from '../new-command.ts';
import { runDirectoryOf } from '../run-directory.ts';

/** A chain head as 64 lower-case hex digits. */
function parseHead(head: string): string {
  const match = /^(?:sha256:)?([0-9a-f]{64})$/i.exec(head.trim());
  if (match === null)
    throw new Failure('usage', '--head: expected 64 hex digits, as the summary prints them');
  return match[1]!.toLowerCase();
}

/** `verify <run dir>`: check that a run's record holds. */
export function verifyCommand(context: CommandContext, runs: RunCommands, report: ReportStatus): Command {
  return newCommand('verify', context)
    .summary("check a run's hashes, chain and accounting")
    .description(
      "Check a finished run's hashes, chain and accounting, and name the first thing that does not hold.\n" +
        'Status 0 when everything holds, 1 when something does not. Changes nothing.',
    )
    .argument('<run-dir>', 'run directory, as enqueue printed it, or the name of a run in ./runs')
    .addOption(
      flag('--head <hash>', {
        what: 'chain head that was noted elsewhere, 64 hex digits; the record must end in it',
        fallback: 'not compared',
        example: '4bf5122f… (64 digits)',
      }),
    )
    .addOption(jsonFlag('print the result as JSON instead of text'))
    .addHelpText(
      'after',
      examples([
        ['guardsweep verify runs/20261121T020000Z-nightly-ab12', 'does this record still hold?'],
        ['guardsweep verify /mnt/archive/run-7 --json', 'the same for a program'],
      ]),
    )
    .action(async (runDir: string, options: { head?: string; json?: boolean }) => {
      const head = options.head === undefined ? null : parseHead(options.head);
      const ui = { ...context, json: options.json ?? false, quiet: true };
      report(await runs.verify(runDirectoryOf(runDir, context.cwd), { head }, ui));
    });
}
