import { resolve } from 'node:path';
import type { Command } from 'commander';
import { Failure } from '../../domain/failure.ts';
import type { CommandContext } from '../context.ts';
import { endpointUrls } from '../../guard-setup/endpoint-urls.ts';
import { guardUrlsOf } from '../../config/values/guard-url.ts';
import { redisAddressOf } from '../../config/values/redis-url.ts';
import { checkFleetKey } from '../checks/fleet-key-check.ts';
import { guardFlag, jsonFlag, outFlag, redisFlag } from '../flags/flags.ts';
import { checkGuard } from '../checks/guard-checks.ts';
import { checkFfmpeg, checkMemory, checkNode, checkOutput, type Check } from '../checks/machine-checks.ts';
import { examples, newCommand } from '../new-command.ts';

interface DoctorOptions {
  readonly guard?: readonly string[];
  readonly redis?: string;
  readonly out?: string;
  readonly json?: boolean;
}

function lineOf({ what, ok, found, todo }: Check): string {
  return `${ok ? 'ok     ' : 'missing'}  ${what}: ${found}${todo === null ? '' : `; ${todo}`}`;
}

/** `doctor`: is everything that a run needs on this machine there? */
export function doctorCommand(context: CommandContext): Command {
  return newCommand('doctor', context)
    .summary('check that everything a run needs is there')
    .description(
      'Check that everything a run needs is there: Node, memory, a writable output folder with space, ffmpeg, the guards, ' +
        'and the Redis and the key of a fleet where one is named. Also tell how far this system confines decoders of media.\n' +
        'Each line says ok or missing, and what to do. Status 4 when anything is missing. Leaves nothing behind.',
    )
    .addOption(guardFlag())
    .addOption(redisFlag())
    .addOption(outFlag())
    .addOption(jsonFlag('print a JSON array with one object for each check'))
    .addHelpText(
      'after',
      examples([
        ['guardsweep doctor', 'before a first run'],
        ['guardsweep doctor --guard grpc://gpu-1:8001 --out /data/runs', 'before a run on a real guard'],
        ['guardsweep doctor --redis redis://queue-1:6379', 'before a run on a fleet'],
      ]),
    )
    .action(async (options: DoctorOptions) => {
      const redis = redisAddressOf(options.redis, context.env);
      // On a fleet the workers name the guards; this machine may have none.
      const named = options.guard !== undefined || guardUrlsOf(context.env) !== null;
      const urls = redis === null || named ? endpointUrls(options.guard, context.env) : [];
      const checks: Check[] = [];
      const add = (check: Check): void => {
        checks.push(check);
        if (!options.json) context.stdout.line(lineOf(check));
      };
      add(checkNode(process.versions.node));
      add(checkMemory());
      add(await checkOutput(resolve(context.cwd, options.out ?? 'runs')));
      const { env, interrupts } = context;
      add(await checkFfmpeg(env, interrupts.drain));
      const { checkDecoders } = await import('../checks/decoder-check.ts');
      add(checkDecoders());
      if (redis !== null) {
        const { checkRedis } = await import('../checks/redis-check.ts');
        add(await checkRedis(redis, interrupts.drain));
        add(await checkFleetKey(redis, env));
      }
      for (const url of urls) add(await checkGuard(url, { guards: urls, env, signal: interrupts.drain }));
      if (options.json) context.stdout.json(checks, 2);
      const missing = checks.filter(({ ok }) => !ok).length;
      if (missing > 0) {
        throw new Failure('service', `${missing} of ${checks.length} checks failed`);
      }
    });
}
