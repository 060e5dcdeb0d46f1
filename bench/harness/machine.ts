import { spawnSync } from 'node:child_process';
import { availableParallelism, cpus, loadavg, release, totalmem } from 'node:os';
import { toolVersion } from '../../src/config/tool-version.ts';
import { findRedis } from '../processes/redis-process.ts';

/** The machine that the figures were measured on. */
export interface Machine {
  readonly cpu: string;
  /** Hardware threads. */
  readonly cores: number;
  readonly memoryGib: number;
  readonly system: string;
  /** 1-minute load average when the benches started: other load makes figures less reliable. */
  readonly load: number;
}

/** Versions; null if not installed. */
export interface Versions {
  readonly guardsweep: string;
  readonly node: string;
  readonly redis: string | null;
  readonly ffmpeg: string | null;
}

export function describeMachine(): Machine {
  return {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    memoryGib: Math.round((totalmem() / 2 ** 30) * 10) / 10,
    system: `${process.platform} ${release()} ${process.arch}`,
    load: Math.round(loadavg()[0]! * 100) / 100,
  };
}

export function describeVersions(): Versions {
  const redis = findRedis();
  return {
    guardsweep: toolVersion(),
    node: process.versions.node,
    redis: redis === null ? null : firstLine(redis, '--version'),
    ffmpeg: firstLine('ffmpeg', '-version'),
  };
}

function firstLine(program: string, flag: string): string | null {
  const { status, stdout } = spawnSync(program, [flag], { encoding: 'utf8' });
  return status === 0 ? (stdout.split('\n')[0] ?? null) : null;
}
