import { resolveAfterFinish } from '../../config/after-finish.ts';
import { readFleetKey } from '../../config/keys/fleet-key.ts';
import { GUARD_TLS_SETTINGS, resolveGuardTlsFiles } from '../../config/keys/guard-tls.ts';
import { EXPORT_CLEAN, HEAD_FILE, KEEP, ON_FINISH, REPORT } from '../../config/settings/entries/after-run.ts';
import { JSON_OUTPUT, QUIET, TRUST_RUN } from '../../config/settings/entries/commands.ts';
import { FLEET_REDIS, REDIS, START_WAIT } from '../../config/settings/entries/fleet.ts';
import { type Flags, valueOf, resolveSettings } from '../../config/settings/given.ts';
import type { RedisAddress } from '../../config/values/redis-url.ts';
import type { CommandContext, ContinueUi, FleetAccess } from '../context.ts';

/** Resolves the fleet of a process that requires one. Failure('usage') if no Redis is named. */
export async function requireFleet(flags: Flags, context: CommandContext): Promise<FleetAccess> {
  return accessTo(await valueOf(FLEET_REDIS, { flags, ...context }), context);
}

function accessTo(redis: RedisAddress, { env }: CommandContext): FleetAccess {
  return { redis, key: readFleetKey(redis, env) };
}

/** Resolves the fleet that judges a run; null if no Redis is named, so this process judges it. */
export async function resolveFleet(flags: Flags, context: CommandContext): Promise<FleetAccess | null> {
  const redis = await valueOf(REDIS, { flags, ...context });
  return redis === null ? null : accessTo(redis, context);
}

const OUTPUT_SETTINGS = { json: JSON_OUTPUT, quiet: QUIET, trustRun: TRUST_RUN };

/** Settings of the commands that continue a run, in the order in which the help lists them. */
export const CONTINUE_SETTINGS = {
  redis: REDIS,
  ...GUARD_TLS_SETTINGS,
  trustRun: TRUST_RUN,
  startWait: START_WAIT,
  noReport: REPORT,
  exportClean: EXPORT_CLEAN,
  keep: KEEP,
  headFile: HEAD_FILE,
  onFinish: ON_FINISH,
  json: JSON_OUTPUT,
  quiet: QUIET,
};

export async function resolveContinueUi(flags: Flags, context: CommandContext): Promise<ContinueUi> {
  const from = { flags, ...context };
  return {
    ...context,
    typed: null,
    ...(await resolveSettings(OUTPUT_SETTINGS, from)),
    fleet: await resolveFleet(flags, context),
    guardTls: await resolveGuardTlsFiles(from),
    startWaitMs: await valueOf(START_WAIT, from),
    afterFinish: await resolveAfterFinish(from),
  };
}
