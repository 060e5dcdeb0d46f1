import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { verifyRun } from '../../src/record/verify/verify.ts';
import { Cli, guardsweep, temporaryFolder } from '../helpers/cli.ts';
import { writeGenerations } from '../helpers/corpus.ts';
import { closeAfterEach, restGuard } from '../helpers/guards/guard-pool.ts';
import { committedShards, comparable, onlyRun, outcomes, until } from '../helpers/run-directory.ts';

const SAMPLE = fileURLToPath(new URL('../../jobs/sample-streams/replies.jsonl', import.meta.url));

closeAfterEach();

it('replays the sample with no settings, and says how early it would have been stopped', async () => {
  const out = join(await temporaryFolder(), 'runs');
  const { status, stdout } = await guardsweep(['enqueue', SAMPLE, '--as-stream', '--out', out]);
  expect(status).toBe(0);
  expect(stdout).toMatch(/^Judged 8 of 8 items; 0 not judged$/m);
  expect(stdout).toMatch(/^Flagged while streaming: 3 of 8 generations, half of them within the first /m);
  const run = await onlyRun(out);
  const lines = await outcomes(run);
  expect(lines[1]).toMatchObject({ id: 'g-02', request_type: 'generation', decision: 'block' });
  const { chunks, first_flagged_seq: seq, shown_share_at_flag: share } = lines[1]!.stream!;
  expect(chunks).toBe(15);
  expect(seq).toBeGreaterThan(0);
  expect(share).toBeGreaterThan(0);
  expect(share).toBeLessThan(1);
  expect(lines[3]).toMatchObject({ decision: 'allow', stream: { chunks: 2, first_flagged_seq: null } });
  expect(await readFile(join(run, 'verdicts.csv'), 'utf8')).toMatch(/,shown_share_at_flag\r\n/);
  expect((await guardsweep(['verify', run])).status).toBe(0);
});

it('killed and resumed, ends as an undisturbed run', async () => {
  const folder = await temporaryFolder();
  const corpus = join(folder, 'corpus');
  await mkdir(corpus);
  for (let file = 0; file < 5; file++) await writeGenerations(corpus, `${file}.jsonl`, 6, 1 + file * 6);
  const replay = ['enqueue', corpus, '--as-stream', '--chunk-chars', '60', '--quiet', '--out'];
  const cli = new Cli([...replay, join(folder, 'killed')]);
  const run = await until(async () => {
    const dir = await onlyRun(join(folder, 'killed'));
    return (cli.child.exitCode !== null || (await committedShards(dir)) >= 1) && dir;
  }, 'a committed shard');
  cli.kill('SIGKILL');
  await cli.finished();
  expect((await guardsweep(['resume', run])).status).toBe(0);
  expect((await guardsweep([...replay, join(folder, 'plain')])).status).toBe(0);
  const plain = await outcomes(await onlyRun(join(folder, 'plain')));
  expect(plain).toHaveLength(30);
  expect(comparable(await outcomes(run))).toEqual(comparable(plain));
  expect(await verifyRun(run)).toMatchObject({ ok: true, items: 30 });
});

it('says before the run that a guard takes no streams, and which items that leaves out', async () => {
  const out = join(await temporaryFolder(), 'runs');
  const server = await restGuard();
  const guard = ['--guard', server.address];
  const { status, stderr } = await guardsweep(['enqueue', SAMPLE, '--as-stream', '--out', out, ...guard]);
  expect(status).toBe(5);
  expect(stderr).toContain('this guard takes no moderation streams');
  for (const line of await outcomes(await onlyRun(out))) {
    expect(line).toMatchObject({
      request_type: 'generation',
      stream: null,
      error: { code: 'PROBE_NOT_LOADED', message: 'none of the guards takes moderation streams' },
    });
  }
});
