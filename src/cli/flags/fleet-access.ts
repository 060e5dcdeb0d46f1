import { afterFinishOf } from '../../config/after-finish.ts';
import { fleetKeyOf } from '../../config/keys/fleet-key.ts';
import { GUARD_TLS_SETTINGS, guardTlsFilesOf } from '../../config/keys/guard-tls.ts';
import { EXPORT_CLEAN, HEAD_FILE, KEEP, ON_FINISH, REPORT } from '../../config/settings/entries/after-run.ts';
import { JSON_SUMMARY, QUIET, TRUST_RUN } from '../../config/settings/entries/commands.ts';
import {
  DETACH,
  FLEET_REDIS,
  INSECURE_FLEET,
  REDIS,
  START_WAIT,
} from '../../config/settings/entries/fleet.ts';
import { type Flags, valueOf, valuesOf } from '../../config/settings/given.ts';
import type { RedisAddress } from '../../config/values/redis-url.ts';
import { Failure } from '../../domain/failure.ts';
import type { CommandContext, ContinueUi, FeedUi, FleetAccess } from '../context.ts';

/** The fleet of a process that cannot do without one. Failure('usage') when no Redis is named. */
export async function neededFleet(flags: Flags, context: CommandContext): Promise<FleetAccess> {
  return accessTo(await valueOf(FLEET_REDIS, { flags, ...context }), flags, context);
}

async function accessTo(redis: RedisAddress, flags: Flags, context: CommandContext): Promise<FleetAccess> {
  const insecure = await valueOf(INSECURE_FLEET, { flags, ...context });
  const key = await fleetKeyOf({ redis, insecure, env: context.env });
  return { redis, key, insecure };
}

/** Who judges a run: a fleet, where a Redis is named, else this process. */
export async function fleetOf(
  flags: Flags,
  context: CommandContext,
): Promise<Pick<FeedUi, 'fleet' | 'detach'>> {
  const redis = await valueOf(REDIS, { flags, ...context });
  const detach = await valueOf(DETACH, { flags, ...context });
  if (detach && redis === null) {
    throw new Failure(
      'usage',
      '--detach: only with Redis (--redis or REDIS_URL), whose workers then judge the run',
    );
  }
  return { fleet: redis === null ? null : await accessTo(redis, flags, context), detach };
}

const OUTPUT_SETTINGS = { json: JSON_SUMMARY, quiet: QUIET, trustRun: TRUST_RUN };

/** The settings of commands that go on with a run, in the order of their help. */
export const CONTINUE_SETTINGS = {
  redis: REDIS,
  insecureFleet: INSECURE_FLEET,
  detach: DETACH,
  ...GUARD_TLS_SETTINGS,
  trustRun: TRUST_RUN,
  startWait: START_WAIT,
  noReport: REPORT,
  exportClean: EXPORT_CLEAN,
  keep: KEEP,
  headFile: HEAD_FILE,
  onFinish: ON_FINISH,
  json: JSON_SUMMARY,
  quiet: QUIET,
};

export async function continueUiOf(flags: Flags, context: CommandContext): Promise<ContinueUi> {
  const from = { flags, ...context };
  return {
    ...context,
    typed: null,
    ...(await valuesOf(OUTPUT_SETTINGS, from)),
    ...(await fleetOf(flags, context)),
    guardTls: await guardTlsFilesOf(from),
    startWaitMs: await valueOf(START_WAIT, from),
    afterFinish: await afterFinishOf(from),
  };
}
