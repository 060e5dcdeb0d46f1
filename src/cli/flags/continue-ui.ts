import { afterFinishOf } from '../../config/after-finish.ts';
import { GUARD_TLS_SETTINGS, guardTlsFilesOf } from '../../config/keys/guard-tls.ts';
import { EXPORT_CLEAN, HEAD_FILE, KEEP, ON_FINISH, REPORT } from '../../config/settings/entries/after-run.ts';
import { JSON_SUMMARY, QUIET, TRUST_RUN } from '../../config/settings/entries/commands.ts';
import { DETACH, INSECURE_FLEET, REDIS, START_WAIT } from '../../config/settings/entries/fleet.ts';
import { type Flags, valueOf, valuesOf } from '../../config/settings/given.ts';
import type { CommandContext, ContinueUi } from '../context.ts';
import { fleetOf } from './fleet-access.ts';

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
