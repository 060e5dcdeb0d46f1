import type { Command } from 'commander';
import { GUARD_TLS_SETTINGS, resolveGuardTlsFiles, readGuardTls } from '../../config/keys/guard-tls.ts';
import { JSON_OUTPUT } from '../../config/settings/entries/commands.ts';
import { REDIS } from '../../config/settings/entries/fleet.ts';
import { GUARD, GUARD_POLICY } from '../../config/settings/entries/guard.ts';
import { RUNS_FOLDER } from '../../config/settings/entries/output.ts';
import { type Flags, resolveSetting, valueOf } from '../../config/settings/given.ts';
import { Failure } from '../../domain/failure.ts';
import type { Check } from '../doctor-checks.ts';
import type { CommandContext } from '../context.ts';
import { examples, newCommand } from '../new-command.ts';

function lineOf({ what, ok, found, todo }: Check): string {
  return `${ok ? 'ok     ' : 'missing'}  ${what}: ${found}${todo === null ? '' : `; ${todo}`}`;
}

const SETTINGS = {
  guard: GUARD,
  guardPolicy: GUARD_POLICY,
  ...GUARD_TLS_SETTINGS,
  redis: REDIS,
  out: RUNS_FOLDER,
  json: JSON_OUTPUT,
};

/** `doctor`: checks that this machine has everything a run needs. */
export function doctorCommand(context: CommandContext): Command {
  return newCommand('doctor', context, SETTINGS)
    .summary('check that this machine has everything a run needs')
    .description(
      'Check what a run needs: Node, a writable output folder with space, ffmpeg, the guards, and the Redis and key of a ' +
        'fleet if one is given; also whether the NVIDIA driver, if any, can serve a guard.\n' +
        'Each line says ok, or missing and what to do. Status 4 if anything is missing. Leaves no files behind.',
    )
    .addHelpText(
      'after',
      examples([
        ['guardsweep doctor', 'before a first run'],
        ['guardsweep doctor --guard grpc://gpu-1:8001 --out /data/runs', 'before a run on a real guard'],
        ['guardsweep doctor --redis redis://queue-1:6379', 'before a run on a fleet'],
      ]),
    )
    .action(async (flags: Flags) => {
      const from = { flags, ...context };
      const json = await valueOf(JSON_OUTPUT, from);
      const redis = await valueOf(REDIS, from);
      // On a fleet the workers name the guards, so this machine may have none.
      const urls = redis === null ? await valueOf(GUARD, from) : ((await resolveSetting(GUARD, from)) ?? []);
      const tls = await readGuardTls(await resolveGuardTlsFiles(from), urls);
      const guardPolicy = await valueOf(GUARD_POLICY, from);
      const { env, interrupts } = context;
      const signal = interrupts.drain;
      const run = await import('../doctor-checks.ts');
      const checks: Check[] = [];
      const add = (check: Check): void => {
        checks.push(check);
        if (!json) context.stdout.line(lineOf(check));
      };
      add(run.checkNode(process.versions.node));
      add(await run.checkOutput(await valueOf(RUNS_FOLDER, from)));
      add(await run.checkFfmpeg(env, signal));
      add(await run.checkGpu(env, signal));
      if (redis !== null) add(await run.checkRedis(redis, env, signal));
      for (const url of urls) {
        add(await run.checkGuard(url, { configured: urls, env, tls, guardPolicy, signal }));
      }
      if (json) context.stdout.json(checks, 2);
      const missing = checks.filter(({ ok }) => !ok).length;
      if (missing > 0) {
        throw new Failure('service', `${missing} of ${checks.length} checks failed`);
      }
    });
}
