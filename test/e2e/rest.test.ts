import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { folderWith, guardsweep } from '../helpers/cli.ts';
import { closeAfterEach, restGuard } from '../helpers/guards/guard-pool.ts';

closeAfterEach();

/** A run over three texts and a pair of prompt and response, at one guard. */
async function run(guard: string, env: NodeJS.ProcessEnv) {
  const folder = await folderWith({
    'a.csv': 'text\none\ntwo\nthree\n',
    'b.jsonl': '{"prompt":"p","response":"r"}\n',
  });
  const sources = [join(folder, 'a.csv'), join(folder, 'b.jsonl')];
  const out = ['--out', join(folder, 'runs'), '--guard', guard];
  const finished = await guardsweep(['enqueue', ...sources, ...out], { env });
  const dir = finished.stdout.trimEnd().split('\n').at(-1)!;
  return { ...finished, dir };
}

test('a run at a guard over REST has verdicts without a fingerprint, and says why (C-104)', async () => {
  const server = await restGuard();
  const { status, stdout, dir } = await run(server.address, { GUARD_API_KEY: 'for another' });
  // The pair cannot be judged over REST.
  expect(status).toBe(5);
  expect(stdout).toContain('Judged 3 of 4 items; 1 not judged');
  expect(stdout).toContain('PROBE_NOT_LOADED');
  expect(stdout).toContain('Over REST a guard does not report its model');
  const lines = (await readFile(join(dir, 'verdicts.jsonl'), 'utf8')).trimEnd().split('\n');
  const records = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(records.slice(0, 3)).toMatchObject(
    [1, 2, 3].map(() => ({ status: 'ok', fingerprint: null, endpoint: server.address, attempts: 1 })),
  );
  expect(records[3]).toMatchObject({ status: 'error', error: { code: 'PROBE_NOT_LOADED' } });
  expect(server.seen.every(({ headers }) => headers.authorization === undefined)).toBe(true);
  expect((await guardsweep(['verify', dir])).status).toBe(0);
});
