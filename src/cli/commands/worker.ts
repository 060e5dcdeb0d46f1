import type { Command } from 'commander';
import { parseCorpusRoots } from '../../config/values/corpus-root.ts';
import { parseDuration } from '../../config/values/duration.ts';
import { parseFingerprintId } from '../../config/values/fingerprint-id.ts';
import { guardUrlsOf, parseGuardUrls } from '../../config/values/guard-url.ts';
import { oneOf } from '../../config/mistake.ts';
import { Failure } from '../../domain/failure.ts';
import { LANES, type Lane } from '../../domain/item.ts';
import { MAX_LOCK_MS } from '../../queue/redis/mending/job-bounds.ts';
import type { CommandContext } from '../context.ts';
import {
  flag,
  insecureFleetFlag,
  metricsHostFlag,
  metricsOpenFlag,
  metricsPortFlag,
  redisFlag,
  repeatableFlag,
  startWaitFlag,
} from '../flags/flags.ts';
import { neededFleet, startWaitOf } from '../flags/fleet-flags.ts';
import { openGuardSession } from '../../guard-setup/guard-session.ts';
import { examples, newCommand } from '../new-command.ts';
import { metricsOf, wholeNumber, type MetricsFlags } from '../flags/service-flags.ts';

interface WorkerOptions extends MetricsFlags {
  readonly redis?: string;
  readonly insecureFleet?: boolean;
  readonly guard?: readonly string[];
  readonly lanes?: string;
  readonly root?: readonly string[];
  readonly concurrency?: string;
  readonly lock?: string;
  readonly maxWait?: string;
  readonly startWait?: string;
  readonly expectFingerprint?: string;
}

/** What a worker takes that has no corpus. */
const TEXT_LANES: readonly Lane[] = ['text', 'chat'];
const DEFAULT_CONCURRENCY = 32;
const MAX_CONCURRENCY = 256;
const DEFAULT_LOCK_MS = 30_000;
const MIN_LOCK_MS = 2000;
const DEFAULT_MAX_WAIT_MS = 2 * 3_600_000;

/** `worker`: takes shards from the fleet's Redis through guards. */
export function workerCommand(context: CommandContext): Command {
  return newCommand('worker', context)
    .summary("judge a fleet's shards with guards near this machine")
    .description(
      "Take shards (groups of items) of any run from the fleet's Redis, have guards judge them, and hand the " +
        'outcomes to the sink, until interrupted. Any number of workers on any number of machines share the ' +
        'work. An interrupt lets what is in flight finish, for at most 10 s; a second one stops at once. Nothing ' +
        'is lost either way.',
    )
    .addOption(redisFlag('REDIS_URL; one has to be named'))
    .addOption(insecureFleetFlag())
    .addOption(
      repeatableFlag('--guard <url>', {
        what: 'guard endpoint: grpc[s]://host:8001, https://host, http://host:9000 (REST) or embedded:',
        fallback: 'GUARD_URL; one has to be named',
        example: 'grpc://127.0.0.1:8001',
      }),
    )
    .addOption(
      flag('--lanes <list>', {
        what: `kinds of items to take, separated by commas: ${LANES.join(', ')}`,
        fallback: 'text,chat; with --root all',
        example: 'text',
      }),
    )
    .addOption(
      repeatableFlag('--root <name=folder>', {
        what: 'where a corpus with images or audio is on this machine, by its name; a folder alone: by its own',
        fallback: 'none: media are left to others',
        example: 'uploads=/mnt/uploads',
      }),
    )
    .addOption(
      flag('--concurrency <shards>', {
        what: `shards of one lane judged at a time, 1 to ${MAX_CONCURRENCY}`,
        fallback: String(DEFAULT_CONCURRENCY),
        example: '64',
      }),
    )
    .addOption(
      flag('--lock <duration>', {
        what: 'time without a sign of life after which other workers take over its shards, 2s to 5m',
        fallback: '30s',
        example: '60s',
      }),
    )
    .addOption(
      flag('--max-wait <duration>', {
        what: 'how long to wait while no guard is ready, in s, m or h, before stopping with status 4',
        fallback: '2h',
        example: '10m',
      }),
    )
    .addOption(startWaitFlag('--max-wait where it is given, else 30s'))
    .addOption(
      flag('--expect-fingerprint <id>', {
        what: 'stop with status 4 unless every guard has this fingerprint id',
        fallback: 'any',
        example: 'sha256:9f86d0… (64 digits)',
      }),
    )
    .addOption(metricsPortFlag())
    .addOption(metricsHostFlag())
    .addOption(metricsOpenFlag())
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
    .action(async (options: WorkerOptions) => {
      const { env, interrupts } = context;
      const flagged = options.guard?.map((value) => ({ value, place: '--guard' }));
      const guards = parseGuardUrls(flagged ?? guardUrlsOf(env) ?? []);
      if (guards.length === 0) {
        throw new Failure(
          'usage',
          'a worker needs a guard: name it with --guard or GUARD_URL (embedded: is one)',
        );
      }
      const given = (options.root ?? []).map((value) => ({ value, place: '--root' }));
      const roots = await parseCorpusRoots(given, context.cwd);
      const lanes =
        options.lanes === undefined
          ? LANES.filter((lane) => roots.size > 0 || TEXT_LANES.includes(lane))
          : options.lanes.split(',').map((word) => oneOf(LANES, { value: word.trim(), place: '--lanes' }));
      const lockMs = duration('--lock', options.lock) ?? DEFAULT_LOCK_MS;
      if (lockMs < MIN_LOCK_MS || lockMs > MAX_LOCK_MS) {
        throw new Failure('usage', '--lock: expected 2s to 5m');
      }
      const maxWaitMs = duration('--max-wait', options.maxWait);
      const config = {
        guards,
        expectFingerprint:
          options.expectFingerprint === undefined
            ? null
            : parseFingerprintId({ value: options.expectFingerprint, place: '--expect-fingerprint' }),
        startWaitMs: startWaitOf(options.startWait, maxWaitMs),
        maxWaitMs: maxWaitMs ?? DEFAULT_MAX_WAIT_MS,
      };
      const say = (line: string): void => context.stderr.line(`guardsweep: ${line}`);
      const { moderate } = await import('../../../workers/moderate.ts');
      await moderate(
        {
          ...(await neededFleet(options, context)),
          startWaitMs: config.startWaitMs,
          openGuards: (signal) => openGuardSession(config, env, signal, say),
          lanes: [...new Set(lanes)],
          roots,
          concurrency: wholeNumber('--concurrency', options.concurrency, DEFAULT_CONCURRENCY, {
            least: 1,
            most: MAX_CONCURRENCY,
          }),
          lockMs,
          metrics: metricsOf(options, env),
          say,
        },
        interrupts,
      );
    });
}

function duration(place: string, value: string | undefined): number | null {
  return value === undefined ? null : parseDuration({ value, place });
}
