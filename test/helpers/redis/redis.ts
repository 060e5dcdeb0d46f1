import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { parseRedisUrl, type RedisAddress } from '../../../src/config/values/redis-url.ts';
import { RedisLink } from '../../../src/queue/redis/link.ts';
import type { FleetSeal } from '../../../src/queue/redis/sealing/fleet-seal.ts';
import { freePort } from '../free-port.ts';
import { settled } from '../settled.ts';
import { redisBinary } from './install-redis.ts';

interface RedisOptions {
  /** Keep data over a restart; default no. */
  readonly persistent?: boolean;
  /** Further settings, as on redis-server's command line. */
  readonly settings?: readonly string[];
  /** Listen on a TCP port instead of a socket. */
  readonly tcp?: boolean;
}

/** A real server of its own, in a folder of its own. */
export class TestRedis {
  readonly folder: string;
  readonly url: string;
  readonly port: number;
  readonly #options: RedisOptions;
  #child: ChildProcess | null = null;

  private constructor(folder: string, port: number, options: RedisOptions) {
    this.folder = folder;
    this.port = port;
    this.url = port > 0 ? `redis://127.0.0.1:${port}` : `unix://${folder}/redis.sock`;
    this.#options = options;
  }

  static async start(options: RedisOptions = {}): Promise<TestRedis> {
    const folder = await mkdtemp(join(tmpdir(), 'gs-redis-'));
    const redis = new TestRedis(folder, options.tcp === true ? await freePort() : 0, options);
    await redis.boot();
    return redis;
  }

  get address(): RedisAddress {
    return parseRedisUrl({ value: this.url, place: '--redis' }, {});
  }

  get pid(): number {
    return this.#child!.pid!;
  }

  /** Starts the server again, with the data it kept. */
  async boot(): Promise<void> {
    const { persistent = false, settings = [] } = this.#options;
    const socket = ['--unixsocket', `${this.folder}/redis.sock`];
    this.#child = spawn(
      redisBinary(),
      [
        ...['--port', String(this.port), ...(this.port > 0 ? [] : socket), '--dir', this.folder],
        ...(persistent ? ['--appendonly', 'yes'] : ['--appendonly', 'no', '--save', '']),
        ...['--enable-debug-command', 'yes', ...settings],
      ],
      { stdio: 'ignore' },
    );
    await settled(() => this.#listens());
  }

  /** Kills the server as a crash does. */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (child === null || child.exitCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }

  /** Removes what it kept; to be called while it is down. */
  async loseData(): Promise<void> {
    await rm(join(this.folder, 'appendonlydir'), { recursive: true, force: true });
  }

  async stop(): Promise<void> {
    await this.kill();
    await rm(this.folder, { recursive: true, force: true });
  }

  #listens(): Promise<boolean> {
    return new Promise((resolve) => {
      const socket = this.port > 0 ? connect(this.port, '127.0.0.1') : connect(`${this.folder}/redis.sock`);
      socket.on('connect', () => socket.end(() => resolve(true))).on('error', () => resolve(false));
    });
  }
}

/** A server that is stopped when the test is over. */
export async function redisForTest(options: RedisOptions = {}): Promise<TestRedis> {
  const redis = await TestRedis.start(options);
  onTestFinished(() => redis.stop());
  return redis;
}

/** A link to a server that is closed when the test is over. */
export async function linkForTest(
  redis: { readonly address: RedisAddress },
  said: string[] = [],
  seal: FleetSeal | null = null,
): Promise<RedisLink> {
  const options = { seal, say: (line: string) => said.push(line), signal: new AbortController().signal };
  const link = await RedisLink.open(redis.address, options);
  onTestFinished(() => link.close());
  return link;
}
