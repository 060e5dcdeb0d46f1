import { cp, mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { OutcomeLine } from '../../src/domain/outcome.ts';
import { type Cli, guardsweep, temporaryFolder } from '../helpers/cli.ts';
import { random } from '../helpers/corpus.ts';
import { Fleet } from '../helpers/fleet.ts';
import { redisForTest, type TestRedis } from '../helpers/redis/redis.ts';
import { onlyRun, outcomes } from '../helpers/run-directory.ts';
import { DEADLY_MARK } from './corpus.ts';
import { GuardProcess, type Judged } from './guard-process.ts';
import { Part } from './part.ts';
import { RedisProxy } from './redis-proxy.ts';
import { Storm } from './storm.ts';

const WORKERS = 3;
const GUARDS = 2;
const MAX_STORM_MS = 40_000;
/** After the storm; far more than the run needs. */
const MAX_CALM_MS = 300_000;
const AWAY_MS = 500;
const PRELOAD = fileURLToPath(new URL('preload/die-of-deadly-text.mjs', import.meta.url));

/** What became of a run in a storm. */
export interface Trial {
  readonly dir: string;
  readonly status: number | null;
  readonly lines: readonly OutcomeLine[];
  /** What each guard judged, by its address, then by `content_sha256`. */
  readonly judged: ReadonlyMap<string, ReadonlyMap<string, readonly Judged[]>>;
  readonly redis: TestRedis;
  /** Keeps what tells why something did not hold; gives the folder. */
  readonly keepEvidence: () => Promise<string>;
  /** Ends the fleet, which otherwise outlives its run. */
  readonly end: () => void;
}

/**
 * Has a fleet of processes judge a corpus while faults strike it, chosen by the seed. Rejects when the run does not
 * end in time, or a process ends that nobody killed; what tells why is then in the folder that the message names.
 */
export async function runInStorm(corpus: string, seed: number): Promise<Trial> {
  const next = random(seed);
  const folder = await temporaryFolder();
  const out = join(folder, 'runs');
  await mkdir(out);
  const redis = await redisForTest({ persistent: true });
  const socket = `${redis.folder}/redis.sock`;
  const guards = await Promise.all(Array.from({ length: GUARDS }, () => GuardProcess.at(folder)));
  const proxies = await Promise.all(Array.from({ length: WORKERS }, () => RedisProxy.start(socket)));
  const fleet = new Fleet({ redis, out, guards: guards.map(({ address }) => address) });

  const awayMs = (): number => Math.round(next() * AWAY_MS);
  const part = (name: string, start: () => Promise<Cli>): Part => new Part({ name, start, awayMs });
  const env = { NODE_OPTIONS: `--import ${PRELOAD}`, FAULTS_DEADLY_MARK: DEADLY_MARK };
  const feeder = new Part({
    name: 'feeder',
    start: async () => {
      const run = await onlyRun(out).catch(() => null);
      return run === null ? fleet.enqueue(corpus) : fleet.resume(run);
    },
    awayMs,
    isDone: ({ status }) => status === 0 || status === 5,
  });
  const others = [
    ...guards.map((guard, index) => part(`guard-${index}`, async () => guard.start())),
    ...proxies.map(({ url }, index) =>
      part(`worker-${index}`, async () => fleet.worker({ env: { ...env, REDIS_URL: url } })),
    ),
    part('sink', async () => fleet.sink()),
  ];
  const parts = [feeder, ...others];
  const storm = new Storm({ parts, guards, redis, proxies }, next);
  const keepEvidence = async (): Promise<string> => {
    const kept = join(tmpdir(), 'faults-evidence', String(seed));
    await mkdir(kept, { recursive: true });
    await writeFile(join(kept, 'storm.txt'), `${storm.log.join('\n')}\n`);
    for (const part of parts) await writeFile(join(kept, `${part.name}.stderr`), part.said());
    const run = await onlyRun(out).catch(() => null);
    if (run === null) return kept;
    const status = await guardsweep(['status', run, '--json'], { env: { REDIS_URL: redis.url } });
    await writeFile(join(kept, 'status.json'), status.stdout + status.stderr);
    await cp(run, join(kept, 'run'), { recursive: true });
    return kept;
  };

  const end = (): void => {
    for (const one of parts) one.end();
  };

  const over = new AbortController();
  const lives = others.map((other) => other.live());
  try {
    const fed = feeder.live();
    const dir = await Promise.race([fleet.run(), fed.then(() => fleet.run()), ...lives.map(never)]);
    const raging = storm.rage(MAX_STORM_MS, over.signal);
    const late = delay(MAX_STORM_MS + MAX_CALM_MS, null, { signal: over.signal }).then(() => {
      throw new Error('the run did not end');
    });
    late.catch(() => {});
    const { status } = await Promise.race([fed, late, ...lives.map(never)]);
    over.abort();
    await raging;
    return {
      dir,
      status,
      lines: await outcomes(dir),
      judged: new Map(
        await Promise.all(guards.map(async (guard) => [guard.address, await guard.judged()] as const)),
      ),
      redis,
      keepEvidence,
      end,
    };
  } catch (error) {
    const kept = await keepEvidence();
    end();
    throw new Error(`seed ${seed}: ${(error as Error).message}; see ${kept}`, { cause: error });
  } finally {
    over.abort();
  }
}

/** Of a process that is to live as long as the trial, only the failure counts. */
function never(life: Promise<unknown>): Promise<never> {
  return life.then(() => new Promise<never>(() => {}));
}
