import { resolve } from 'node:path';
import type { Command } from 'commander';
import { publicKeyIn } from '../../config/keys/signing-key.ts';
import { Failure } from '../../domain/failure.ts';
import type { CommandContext, ReportStatus, RunCommands } from '../context.ts';
import { flag, jsonFlag } from '../flags/flags.ts';
import { examples, newCommand } from '../new-command.ts';
import { runDirectoryOf } from '../run/run-directory.ts';

interface Options {
  readonly head?: string;
  readonly headFile?: string;
  readonly publicKey?: string;
  readonly json?: boolean;
}

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
    .addOption(
      flag('--head-file <file>', {
        what: 'chain heads that were noted elsewhere with the --head-file of other commands; the record must hold them',
        fallback: 'not compared',
        example: '/var/lib/audit/heads.jsonl',
      }),
    )
    .addOption(
      flag('--public-key <file>', {
        what: 'Ed25519 public key in PEM; the record must be signed with its private key',
        fallback: 'a signature is not checked',
        example: 'audit-public.pem',
      }),
    )
    .addOption(jsonFlag('print the result as JSON instead of text'))
    .addHelpText(
      'after',
      examples([
        ['guardsweep verify runs/20261121T020000Z-nightly-ab12', 'does this record still hold?'],
        ['guardsweep verify /mnt/archive/run-7 --json', 'the same for a program'],
        [
          'guardsweep verify /mnt/archive/run-7 --public-key audit-public.pem',
          'is it the record that was signed?',
        ],
      ]),
    )
    .action(async (runDir: string, options: Options) => {
      const { cwd } = context;
      const head = options.head === undefined ? null : parseHead(options.head);
      const headFile = options.headFile === undefined ? null : resolve(cwd, options.headFile);
      const publicKey =
        options.publicKey === undefined
          ? null
          : await publicKeyIn(resolve(cwd, options.publicKey), '--public-key');
      const ui = { ...context, json: options.json ?? false, quiet: true };
      report(await runs.verify(runDirectoryOf(runDir, cwd), { head, headFile, publicKey }, ui));
    });
}
