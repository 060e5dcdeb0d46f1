import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Run } from '../../src/runs/create-run.ts';
import { jsonLines } from '../helpers/run-directory.ts';

/**
 * Takes the end off the plan, as if the process had been killed before it was written. What a committed shard was planned
 * or fed with was on disk before.
 */
export async function cutPlan(run: Run, ahead: number): Promise<void> {
  const path = join(run.dir, 'plan.jsonl');
  const lines = (await readFile(path, 'utf8')).trimEnd().split('\n');
  const committed = new Set<number>();
  for (const name of await readdir(join(run.dir, 'log'))) {
    if (!name.endsWith('-commits.jsonl')) continue;
    for (const line of await jsonLines<{ shard?: number }>(join(run.dir, 'log', name))) {
      if (line.shard !== undefined) committed.add(line.shard);
    }
  }
  const shards = lines.map((line) => {
    const { shard, changed } = JSON.parse(line) as { shard?: number; changed?: number };
    return shard ?? changed;
  });
  const least = shards.findLastIndex((shard) => shard !== undefined && committed.has(shard));
  const opened = lines.findLastIndex((line) => line.includes('"opened"'));
  const last = Math.max(opened, least);
  await writeFile(path, `${lines.slice(0, last + 1 + ahead).join('\n')}\n`);
}
