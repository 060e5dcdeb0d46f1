import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { Failure } from '../../src/domain/failure.ts';
import type { BenchContext } from '../harness/bench.ts';

const NAMES = ['redis-server', 'valkey-server'];
const START_TRIES = 500;
const TRY_EVERY_MS = 10;

/** A bench's own Redis server. */
interface RedisServer {
  /** Value for `REDIS_URL`. */
  readonly url: string;
  readonly socket: string;
}

/** Path of the server program; null if none is installed. */
export function findRedis(): string | null {
  return NAMES.find((name) => spawnSync(name, ['--version']).status === 0) ?? null;
}

/**
 * Runs `use` with a new server, configured as in docs/fleet.md (AOF, no eviction), then stops it. Failure('usage') when
 * none is installed.
 */
export async function withRedis<T>(
  { folder, signal }: BenchContext,
  use: (redis: RedisServer) => Promise<T>,
): Promise<T> {
  const program = findRedis();
  if (program === null) {
    throw new Failure(
      'usage',
      'this bench needs redis-server or valkey-server: e.g. apt-get install redis-server',
    );
  }
  const dir = await mkdtemp(join(folder, 'redis-'));
  const socket = join(dir, 's');
  const settings = ['--appendonly', 'yes', '--save', '', '--maxmemory-policy', 'noeviction'];
  const child = spawn(program, ['--port', '0', '--unixsocket', socket, '--dir', dir, ...settings], {
    stdio: 'ignore',
  });
  const ended = once(child, 'exit');
  try {
    await listening(child, socket, signal);
    return await use({ url: `unix://${socket}`, socket });
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
}

async function listening(child: ChildProcess, socket: string, signal: AbortSignal): Promise<void> {
  for (let tries = 0; tries < START_TRIES && child.exitCode === null; tries++) {
    if (await answers(socket)) return;
    await delay(TRY_EVERY_MS, undefined, { signal });
  }
  throw new Failure('service', 'the Redis of this bench does not start');
}

function answers(socket: string): Promise<boolean> {
  return new Promise((resolve) => {
    const client = connect(socket);
    client.on('connect', () => client.end(() => resolve(true))).on('error', () => resolve(false));
  });
}

/** The server's peak memory since its start, in bytes (`used_memory_peak`). */
export async function peakMemory({ socket }: RedisServer): Promise<number> {
  const redis = new Redis({ path: socket });
  try {
    return Number(/^used_memory_peak:(\d+)/m.exec(await redis.info('memory'))![1]);
  } finally {
    redis.disconnect();
  }
}
