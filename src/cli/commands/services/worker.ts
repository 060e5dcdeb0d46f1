import type { Command } from 'commander';
import { GUARD_TLS_SETTINGS, resolveGuardTlsFiles, readGuardTls } from '../../../config/keys/guard-tls.ts';
import {
  CONCURRENCY,
  CORPUS_ROOT,
  FLEET_REDIS,
  LOCK,
  WORKER_LANES,
  WORKER_MAX_WAIT,
  START_WAIT,
} from '../../../config/settings/entries/fleet.ts';
import {
  CANARIES,
  EXPECT_FINGERPRINT,
  GUARD_POLICY,
  WORKER_GUARD,
} from '../../../config/settings/entries/guard.ts';
import type { CanaryChoice } from '../../../config/run-config.ts';
import { type Flags, resolveSettings } from '../../../config/settings/given.ts';
import { resolveStartWait } from '../../../config/start-wait.ts';
import { LANES, type Lane } from '../../../domain/item.ts';
import type { CommandContext } from '../../context.ts';
import { requireFleet } from '../../flags/fleet-access.ts';
import { SERVICE_SETTINGS, resolveMetricsPlace } from '../../flags/server-access.ts';
import { examples, newCommand } from '../../new-command.ts';

/** Lanes of a worker that has no corpus. */
const TEXT_LANES: readonly Lane[] = ['text', 'chat'];

const SETTINGS = {
  redis: FLEET_REDIS,
  guard: WORKER_GUARD,
  ...GUARD_TLS_SETTINGS,
  lanes: WORKER_LANES,
  root: CORPUS_ROOT,
  concurrency: CONCURRENCY,
  lock: LOCK,
  maxWait: WORKER_MAX_WAIT,
  startWait: START_WAIT,
  expectFingerprint: EXPECT_FINGERPRINT,
  guardPolicy: GUARD_POLICY,
  canaries: CANARIES,
  ...SERVICE_SETTINGS,
};

/** `worker`: judge shards from the fleet's Redis with guards. */
export function workerCommand(context: CommandContext): Command {
  return newCommand('worker', context, SETTINGS)
    .summary("judge a fleet's shards with guards near this machine")
    .description(
      "Take shards (groups of items) of any run from the fleet's Redis, have guards judge them, and hand the " +
        'outcomes to the sink, until interrupted. Any number of workers on any number of machines share the ' +
        'work. An interrupt lets what is in flight finish, for at most 10 s, and the status is 0; a second one ' +
        'stops at once. Nothing is lost either way.',
    )
    .addHelpText(
      'after',
      examples([
        ['guardsweep worker --redis redis://queue-1:6379 --guard grpc://127.0.0.1:8001', 'next to a GPU'],
        [
          'guardsweep worker --guard grpc://127.0.0.1:8001 --root uploads=/mnt/uploads',
          'images and audio of the corpus uploads, too',
        ],
        ['guardsweep worker --guard embedded: --metrics-port 9464', 'with REDIS_URL set, to try it out'],
      ]),
    )
    .action(async (flags: Flags) => {
      const { env, interrupts } = context;
      const from = { flags, ...context };
      const { guard: guards, lanes: named, root, ...settings } = await resolveSettings(SETTINGS, from);
      const startWaitMs = await resolveStartWait(START_WAIT, WORKER_MAX_WAIT, from);
      const roots = root ?? new Map<string, string>();
      const lanes = named ?? LANES.filter((lane) => roots.size > 0 || TEXT_LANES.includes(lane));
      const canaries: CanaryChoice = settings.canaries ?? { from: 'built-in' };
      const { expectFingerprint, guardPolicy, maxWait: maxWaitMs, concurrency, lock: lockMs } = settings;
      const tls = await readGuardTls(await resolveGuardTlsFiles(from), guards);
      const config = { guards, tls, guardPolicy, expectFingerprint, startWaitMs, maxWaitMs, canaries };
      const { say } = context.stderr;
      const [{ moderate }, { openGuardSession }] = await Promise.all([
        import('../../../../workers/moderate.ts'),
        import('../../../guard-setup/guard-session.ts'),
      ]);
      await moderate(
        {
          ...(await requireFleet(flags, context)),
          startWaitMs,
          openGuards: (signal) => openGuardSession(config, env, signal, say),
          lanes: [...new Set(lanes)],
          roots,
          concurrency,
          lockMs,
          metrics: await resolveMetricsPlace(flags, context),
          say,
        },
        interrupts,
      );
    });
}
