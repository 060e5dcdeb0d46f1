import { cp, mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { guardsweep } from '../helpers/cli.ts';
import type { TestRedis } from '../helpers/redis/redis.ts';
import type { Part } from './part.ts';
import type { Storm } from './storm.ts';

export interface Scene {
  readonly seed: number;
  readonly run: string | null;
  readonly redis: TestRedis;
  readonly parts: readonly Part[];
  readonly storm: Storm;
}

/** Keeps what tells why a run did not end as it should; gives the folder. */
export async function keepEvidence({ seed, run, redis, parts, storm }: Scene): Promise<string> {
  const folder = join(tmpdir(), 'faults-evidence', String(seed));
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'storm.txt'), `${storm.log.join('\n')}\n`);
  for (const part of parts) await writeFile(join(folder, `${part.name}.stderr`), part.said());
  if (run === null) return folder;
  const status = await guardsweep(['status', run, '--json'], { env: { REDIS_URL: redis.url } });
  await writeFile(join(folder, 'status.json'), status.stdout + status.stderr);
  await cp(run, join(folder, 'run'), { recursive: true });
  return folder;
}
