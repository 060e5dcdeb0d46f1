import { existsSync } from 'node:fs';
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { OutcomeLine } from '../../src/domain/outcome.ts';
import type { Cli } from './cli.ts';

export async function jsonLines<T>(path: string): Promise<T[]> {
  const text = await readFile(path, 'utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);
}

export function outcomes(runDir: string): Promise<OutcomeLine[]> {
  return jsonLines<OutcomeLine>(join(runDir, 'verdicts.jsonl'));
}

/** Changes one bit in the middle of a file. */
export async function flipBit(path: string): Promise<void> {
  const bytes = await readFile(path);
  bytes[bytes.length >> 1]! ^= 1;
  await writeFile(path, bytes);
}

/** What an outcome line says of the item, without what may differ between two runs over the same corpus. */
export function comparable(lines: readonly OutcomeLine[]): object[] {
  return lines.map((line) => ({
    ...line,
    run: null,
    moderated_at: null,
    latency_ms: null,
    attempts: null,
    endpoint: null,
    reused_from: null,
    stream: line.stream && { ...line.stream, lag_chunks: null, lag_ms: null },
  }));
}

/** Every file below a folder, by its path there. */
export async function filesOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1)).sort();
}

/** The only run directory in an output folder. */
export async function onlyRun(out: string): Promise<string> {
  const names = (await readdir(out)).filter((name) => !name.startsWith('.'));
  if (names.length !== 1) throw new Error(`${names.length} run directories in the output folder`);
  return join(out, names[0]!);
}

/** Number of shards committed so far over all epochs. */
export async function committedShards(runDir: string): Promise<number> {
  const log = join(runDir, 'log');
  if (!existsSync(log)) return 0;
  let shards = 0;
  for (const name of await readdir(log)) {
    if (!name.endsWith('-commits.jsonl')) continue;
    shards += (await jsonLines<object>(join(log, name))).filter((line) => 'shard' in line).length;
  }
  return shards;
}

/** The only run in an output folder, once it has committed so many shards or its process is gone. */
export function progressed({ child }: Cli, out: string, shards: number): Promise<string> {
  return until(async () => {
    const run = await onlyRun(out);
    return (child.exitCode !== null || (await committedShards(run)) >= shards) && run;
  }, `${shards} committed shards`);
}

/** Kills a process when its run has committed so many shards; returns the run directory. */
export async function killedAt(cli: Cli, out: string, shards: number): Promise<string> {
  const run = await progressed(cli, out, shards);
  cli.kill('SIGKILL');
  await cli.finished();
  return run;
}

/** Polls for what another process writes to disk; gives up, loudly, after a minute. */
export async function until<T>(look: () => Promise<T | false | null | undefined>, what: string): Promise<T> {
  const end = Date.now() + 180_000;
  while (Date.now() < end) {
    const seen = await look().catch(() => null);
    if (seen !== false && seen !== null && seen !== undefined) return seen;
    await setTimeout(10);
  }
  throw new Error(`waited three minutes for ${what}`);
}
