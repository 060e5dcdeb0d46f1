import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { blackHole } from '../helpers/black-hole.ts';
import { Cli, guardsweep, MAIN, printedRun, temporaryFolder } from '../helpers/cli.ts';
import { writeComments } from '../helpers/corpus.ts';
import { onlyRun, outcomes, progressed, until } from '../helpers/run-directory.ts';
import { syntheticGuard } from '../helpers/guards/shared-guard.ts';

async function comments(rows: number): Promise<{ path: string; out: string }> {
  const folder = await temporaryFolder();
  await writeComments(folder, 'comments.csv', rows);
  return { path: join(folder, 'comments.csv'), out: join(folder, 'runs') };
}

describe('a run against guards that fail', () => {
  it('stops with 4 when the guard is not the expected one, or stays away longer than --max-wait', async () => {
    const { path, out } = await comments(2000);
    const guard = await syntheticGuard();
    const other = `sha256:${'0'.repeat(64)}`;
    const enqueue = ['enqueue', path, '--out', out, '--guard', guard.address];
    expect((await guardsweep([...enqueue, '--expect-fingerprint', other])).status).toBe(4);

    guard.synthetic!.setFaults([{ kind: 'down', how: 'closed', after: 500 }]);
    const away = await guardsweep([...enqueue, '--start-wait', '30s', '--max-wait', '2s']);
    expect(away.status).toBe(4);
    const run = await onlyRun(out);
    expect(away.stderr).toContain(`resume ${run}`);
    await guard.synthetic!.listenAgain();
    guard.synthetic!.setFaults([]);
    expect((await guardsweep(['resume', run])).status).toBe(0);
    expect(await outcomes(run)).toHaveLength(2000);
  });

  it('stops at once at the second interrupt while the guard hangs', async () => {
    const { path, out } = await comments(30_000);
    const guard = await syntheticGuard();
    const cli = new Cli(['enqueue', path, '--out', out, '--guard', guard.address]);
    const run = await progressed(cli, out, 1);
    guard.synthetic!.pause();
    cli.kill('SIGINT');
    await until(async () => cli.stderr.includes('finishing what is in flight'), 'draining');
    // Signals closer together than half a second are taken for one Ctrl-C.
    await setTimeout(600);
    cli.kill('SIGINT');
    expect((await cli.finished()).status).toBe(130);
    guard.synthetic!.resume();
    expect((await guardsweep(['resume', run])).status).toBe(0);
    expect(await outcomes(run)).toHaveLength(30_000);
  });
});

describe('an address that answers no attempt to connect', () => {
  /** Milliseconds from the last output of a command to its end. */
  async function lingering(args: readonly string[], status: number): Promise<number> {
    const command = new Cli(args);
    let lastAt = performance.now();
    for (const stream of [command.child.stdout!, command.child.stderr!]) {
      stream.on('data', () => (lastAt = performance.now()));
    }
    const done = await command.finished();
    expect(done.status, done.stderr).toBe(status);
    return performance.now() - lastAt;
  }

  it('keeps neither a command nor a run, alone or beside a good guard', async () => {
    const away = ['--guard', `grpc://127.0.0.1:${await blackHole()}`];
    const good = ['--guard', (await syntheticGuard()).address];
    const { path, out } = await comments(10);
    const enqueue = ['enqueue', path, '--out', out, ...away];
    const took = await Promise.all([
      lingering(['fingerprint', ...away], 4),
      lingering(['doctor', ...away], 4),
      lingering([...enqueue, '--start-wait', '1s'], 4),
      lingering([...enqueue, ...good], 0),
    ]);
    expect(Math.max(...took)).toBeLessThan(15_000);
  });
});

it.runIf(process.platform === 'linux')('a crash leaves nothing of the memory in a core file', async () => {
  const folder = await temporaryFolder();
  const marker = `marker-${randomUUID()}`;
  const script =
    'ulimit -c unlimited 2>/dev/null; exec "$0" "$1" guard --model synthetic --grpc-port 0 --http-port 0 --metrics-port 0';
  const child = spawn('/bin/sh', ['-c', script, process.execPath, MAIN], {
    cwd: folder,
    env: { ...process.env, GUARDSWEEP_TEST_MARKER: marker },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  expect(Number(await readFile(`/proc/${child.pid}/coredump_filter`, 'utf8'))).toBe(0);
  child.kill('SIGABRT');
  const [, signal] = (await once(child, 'close')) as [number | null, string | null];
  expect(signal).toBe('SIGABRT');
  // Where the system writes cores to the working directory.
  for (const name of await readdir(folder)) {
    expect((await readFile(join(folder, name))).includes(marker), name).toBe(false);
  }
});

it('fills all category scores of every item with embedded:all-scores, and says so in the record', async () => {
  const { path, out } = await comments(3);
  for (const guard of ['embedded:', 'embedded:all-scores']) {
    const done = await guardsweep(['enqueue', path, '--out', out, '--guard', guard]);
    expect(done.status).toBe(0);
    for (const line of await outcomes(printedRun(done))) {
      expect(line).toMatchObject({ endpoint: guard, flagged: false, reused_from: null });
      const scores = Object.keys(line.subcategory_scores ?? {});
      expect(scores).toHaveLength(guard === 'embedded:' ? 0 : 13);
    }
  }
});
