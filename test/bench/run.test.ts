import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { Results } from '../../bench/harness/results-file.ts';
import { temporaryFolder } from '../helpers/cli.ts';
import { random, sentence } from '../helpers/corpus.ts';

const RUN = fileURLToPath(new URL('../../dist/bench/run.js', import.meta.url));

async function run(names: readonly string[], env: NodeJS.ProcessEnv) {
  const folder = await temporaryFolder();
  const child = spawn(process.execPath, [RUN, ...names], {
    env: { ...process.env, BENCH_RESULTS: folder, BENCH_SEED: '5', BENCH_ROUNDS: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  await once(child, 'close');
  const [file] = await readdir(folder);
  const results =
    file === undefined ? null : (JSON.parse(await readFile(join(folder, file), 'utf8')) as Results);
  return { status: child.exitCode, stdout, stderr, results };
}

async function corpora(): Promise<string> {
  const folder = await temporaryFolder();
  const next = random(11);
  const texts = Array.from({ length: 500 }, () => sentence(next, 2 + Math.floor(next() ** 3 * 120)));
  const file = gzipSync(texts.map((text) => `${JSON.stringify({ text })}\n`).join(''));
  for (const name of ['train', 'dev', 'unsafe_unspecified']) {
    await writeFile(join(folder, `${name}.jsonl.gz`), file);
  }
  return folder;
}

describe('npm run bench', () => {
  it('measures what is named, and writes down all of it', async () => {
    const env = { BENCH_CORPORA: await corpora(), BENCH_SCALE: '0.02' };
    const { status, stdout, stderr, results } = await run(['padding', 'start'], env);
    expect([status, stderr]).toEqual([0, expect.stringContaining('BENCH_SEED=5')]);
    const named = stdout.split('\n').map((line) => line.split(/ {2,}/)[0]);
    expect(named).toEqual(['bench', 'padding', 'start', '']);
    expect(results).toMatchObject({ seed: 5, scale: 0.02, versions: { node: process.versions.node } });
    expect(results!.benches.map(({ bench }) => bench)).toEqual(['padding', 'start']);
    for (const { figures, raw } of results!.benches) {
      for (const { measured } of figures) expect(measured).toBeGreaterThan(0);
      expect(raw).toHaveProperty('rounds');
    }
  });

  it('says what a bench needs, and runs the others', async () => {
    const env = { BENCH_CORPORA: await temporaryFolder() };
    const { status, stdout, results } = await run(['overhead', 'start'], env);
    expect(status).toBe(1);
    expect(stdout).toMatch(/^overhead +failed: .*BENCH_CORPORA/m);
    expect(results!.benches.map(({ failure }) => failure === null)).toEqual([false, true]);
  });
});
