import type { RunStatus } from '../../src/fleet/status/run-status.ts';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { typed } from '../cli/terminal.ts';
import { Cli, temporaryFolder, type Finished } from './cli.ts';
import { writeComments } from './corpus.ts';
import { redisForTest } from './redis/redis.ts';
import { onlyRun, until } from './run-directory.ts';

export interface FleetOptions {
  readonly redis: { readonly url: string };
  /** Folder in which runs are made. */
  readonly out: string;
  readonly guards: readonly string[];
  /** As for `--lock`; default 2s, so that what a killed worker had comes back soon. */
  readonly lock?: string;
  /** Set for every process. */
  readonly env?: NodeJS.ProcessEnv;
}

/** Workers, a sink and a feeder as separate processes of the built command line. */
export class Fleet {
  readonly #options: FleetOptions;

  constructor(options: FleetOptions) {
    this.#options = options;
  }

  worker(options: { readonly args?: readonly string[]; readonly env?: NodeJS.ProcessEnv } = {}): Cli {
    const { guards, lock = '2s' } = this.#options;
    const named = guards.flatMap((guard) => ['--guard', guard]);
    return this.#start(['worker', ...named, '--lock', lock, ...(options.args ?? [])], options.env);
  }

  readonly sink = (args: readonly string[] = [], env: NodeJS.ProcessEnv = {}): Cli =>
    this.#start(['sink', '--root', this.#options.out, ...args], env);
  readonly scheduler = (folder: string, args: readonly string[] = []): Cli =>
    this.#start(['scheduler', folder, ...args]);
  readonly enqueue = (path: string, args: readonly string[] = []): Cli =>
    this.#start(['enqueue', path, '--out', this.#options.out, ...args]);
  readonly resume = (run: string, args: readonly string[] = []): Cli => this.#start(['resume', run, ...args]);
  readonly retry = (run: string, args: readonly string[] = []): Cli => this.#start(['retry', run, ...args]);

  #start(args: readonly string[], env: NodeJS.ProcessEnv = {}): Cli {
    return new Cli(args, { env: { ...this.#env, ...env } });
  }

  /** What `status` says of a run now: the command, in this process. */
  async status(run: string): Promise<RunStatus> {
    const done = await typed(['status', run, '--json'], { context: { env: this.#env } });
    expectStatus({ ...done, signal: null }, 0);
    return (JSON.parse(done.stdout) as RunStatus[])[0]!;
  }

  /** The run directory, as soon as it is there. */
  run(): Promise<string> {
    return until(() => onlyRun(this.#options.out), 'a run directory');
  }

  get #env(): NodeJS.ProcessEnv {
    return { ...this.#options.env, REDIS_URL: this.#options.redis.url };
  }
}

/** A fleet over a Redis of its own, with a table of comments and a folder for its runs. */
export async function fleetWithComments(
  rows: number,
  options: Partial<FleetOptions> & Pick<FleetOptions, 'guards'>,
): Promise<{ readonly fleet: Fleet; readonly folder: string; readonly out: string; readonly path: string }> {
  const folder = await temporaryFolder();
  const out = join(folder, 'runs');
  await mkdir(out);
  await writeComments(folder, 'a.csv', rows);
  const redis = options.redis ?? (await redisForTest());
  return { fleet: new Fleet({ ...options, redis, out }), folder, out, path: join(folder, 'a.csv') };
}

/** Ends with a summary that says what happened when a process ended otherwise than expected. */
export function expectStatus(finished: Finished, status: number): void {
  if (finished.status === status) return;
  throw new Error(
    `status ${String(finished.status)} (${String(finished.signal)}) instead of ${status}\n${finished.stderr}\n${finished.stdout}`,
  );
}
