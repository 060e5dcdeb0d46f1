import type { Command } from 'commander';
import { HEAD, HEADS_TO_HOLD, JSON_OUTPUT, PUBLIC_KEY } from '../../config/settings/entries/commands.ts';
import { RUNS_FOLDER } from '../../config/settings/entries/output.ts';
import { type Flags, resolveSettings } from '../../config/settings/given.ts';
import type { CommandContext, ReportStatus, LoadRuns } from '../context.ts';
import { examples, newCommand } from '../new-command.ts';
import { resolveRunDirectory } from '../run/run-directory.ts';

const SETTINGS = {
  head: HEAD,
  headFile: HEADS_TO_HOLD,
  publicKey: PUBLIC_KEY,
  out: RUNS_FOLDER,
  json: JSON_OUTPUT,
};

/** `verify <run dir>`: check a run's record. */
export function verifyCommand(context: CommandContext, loadRuns: LoadRuns, report: ReportStatus): Command {
  return newCommand('verify', context, SETTINGS)
    .summary("check a run's hashes, chain and accounting")
    .description(
      "Check a finished run's hashes, chain and accounting, and name the first mismatch.\n" +
        'Status 0: verified; 1: verification failed; 4: it could not be checked; 6: the run was purged, and what is kept holds. Changes nothing.',
    )
    .argument(
      '<run-dir>',
      'run directory, as enqueue printed it; or in --out the name of a run, its beginning, or latest',
    )
    .addHelpText(
      'after',
      examples([
        ['guardsweep verify runs/20261121T020000Z-nightly-ab12', 'is this record still intact?'],
        ['guardsweep verify /mnt/archive/run-7 --json', 'the same for a program'],
        [
          'guardsweep verify /mnt/archive/run-7 --public-key audit-public.pem',
          'is it the record that was signed?',
        ],
      ]),
    )
    .action(async (runDir: string, flags: Flags) => {
      const { json, out, ...against } = await resolveSettings(SETTINGS, { flags, ...context });
      const ui = { ...context, json, quiet: true };
      const runs = await loadRuns();
      report(await runs.verify(resolveRunDirectory(runDir, context.cwd, out), against, ui));
    });
}
