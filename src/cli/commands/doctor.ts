import { resolve } from 'node:path';
import type { Command } from 'commander';
import { Failure } from '../../domain/failure.ts';
import type { CommandContext } from '../context.ts';
import { endpointUrls } from '../endpoint-urls.ts';
import { guardFlag, jsonFlag, outFlag } from '../flags.ts';
import { checkGuard } from '../guard-checks.ts';
import { checkFfmpeg, checkMemory, checkNode, checkOutput, type Check } from '../machine-checks.ts';
import { examples, newCommand } from '../new-command.ts';

function asText({ what, ok, found, todo }: Check): string {
  return `${ok ? 'ok     ' : 'missing'}  ${what}: ${found}${todo === null ? '' : `; ${todo}`}\n`;
}

/** `doctor`: is everything that a run needs on this machine there? */
export function doctorCommand(context: CommandContext): Command {
  return newCommand('doctor', context)
    .summary('check that everything a run needs is there')
    .description(
      'Check that everything a run needs is there: Node, memory, a writable output folder with space, ffmpeg, the guards.\n' +
        'Each line says ok or missing, and what to do. Status 4 when anything is missing. Leaves nothing behind.',
    )
    .addOption(guardFlag())
    .addOption(outFlag())
    .addOption(jsonFlag('print a JSON array with one object for each check'))
    .addHelpText(
      'after',
      examples([
        ['guardsweep doctor', 'before a first run'],
        ['guardsweep doctor --guard grpc://gpu-1:8001 --out /data/runs', 'before a run on a real guard'],
      ]),
    )
    .action(async (options: { guard?: readonly string[]; out?: string; json?: boolean }) => {
      const urls = endpointUrls(options.guard, context.env);
      const checks: Check[] = [];
      const add = (check: Check): void => {
        checks.push(check);
        if (!options.json) context.stdout.write(asText(check));
      };
      add(checkNode(process.versions.node));
      add(checkMemory());
      add(await checkOutput(resolve(context.cwd, options.out ?? 'runs')));
      const { env, interrupts } = context;
      add(await checkFfmpeg(env, interrupts.drain));
      for (const url of urls) add(await checkGuard(url, { guards: urls, env, signal: interrupts.drain }));
      if (options.json) context.stdout.write(`${JSON.stringify(checks, null, 2)}\n`);
      const missing = checks.filter(({ ok }) => !ok).length;
      if (missing > 0) {
        throw new Failure('service', `${missing} of ${checks.length} checks failed`);
      }
    });
}
