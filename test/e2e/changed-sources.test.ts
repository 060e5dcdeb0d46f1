import { appendFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { DEFAULT_LIMITS } from '../../src/config/run-config.ts';
import type { OutcomeLine } from '../../src/domain/outcome.ts';
import { startGuardServer } from '../../src/guard-server/server.ts';
import type { PlanFileLine } from '../../src/ingest/plan/plan-line.ts';
import { verifyRun } from '../../src/record/verify/verify.ts';
import { Cli, guardsweep, temporaryFolder } from '../helpers/cli.ts';
import { writeComments } from '../helpers/corpus.ts';
import {
  committedShards,
  comparable,
  jsonLines,
  onlyRun,
  outcomes,
  until,
} from '../helpers/run-directory.ts';

/** A run that was killed in the middle of its first table, with shards planned that no guard has answered. */
async function killedRun(): Promise<{
  corpus: string;
  run: string;
  committed: OutcomeLine[];
  planned: number;
}> {
  const folder = await temporaryFolder();
  const corpus = join(folder, 'uploads');
  await mkdir(corpus);
  await writeComments(corpus, 'a.csv', 40_000);
  await writeComments(corpus, 'b.csv', 300, 50_001);
  for (const name of ['c.txt', 'd.txt', 'e.txt']) await writeFile(join(corpus, name), `note ${name}`);
  const guard = await startGuardServer({
    model: 'synthetic',
    grpcPort: 0,
    synthetic: { serviceTime: 'zero' },
  });
  onTestFinished(() => guard.close());
  const cli = new Cli(['enqueue', corpus, '--out', join(folder, 'runs'), '--guard', guard.address]);
  const run = await until(() => onlyRun(join(folder, 'runs')), 'a run directory');
  await until(async () => (await committedShards(run)) > 0, 'a committed shard');
  guard.synthetic!.setFaults([{ kind: 'down' }]);
  await until(async () => cli.stderr.includes('no guard is ready'), 'the guard to go away');
  cli.kill('SIGKILL');
  await cli.finished();
  const shards = await committedShards(run);
  guard.synthetic!.setFaults([]);
  const plan = await jsonLines<PlanFileLine>(join(run, 'plan.jsonl'));
  const planned = plan.filter((line) => 'items' in line).reduce((sum, line) => sum + line.items, 0);
  const committed = (await jsonLines<OutcomeLine>(join(run, 'log', '0001-000001.jsonl'))).slice(
    0,
    shards * DEFAULT_LIMITS.shardItems,
  );
  expect(committed.length).toBeLessThan(planned);
  return { corpus, run, committed, planned };
}

describe('resuming after a source changed', () => {
  it('keeps what was judged, and ends the planned items and the rest as SOURCE_CHANGED', async () => {
    const { corpus, run, committed, planned } = await killedRun();
    await appendFile(join(corpus, 'a.csv'), 'c-x,"one more"\n');
    await writeFile(join(corpus, 'd.txt'), 'another note');
    await writeComments(corpus, 'late.csv', 10);
    const done = await guardsweep(['resume', run]);
    expect(done.status).toBe(5);
    const lines = await outcomes(run);
    const byPath = new Map<string, OutcomeLine[]>();
    for (const line of lines) byPath.set(line.source.path, [...(byPath.get(line.source.path) ?? []), line]);

    const changed = byPath.get('uploads/a.csv')!;
    expect(comparable(changed.filter((line) => line.status === 'ok'))).toEqual(
      comparable(committed.toSorted((a, b) => a.seq - b.seq)),
    );
    expect(changed).toHaveLength(planned + 1);
    // Shards may be committed in another order than they were planned in.
    const judged = new Set(committed.map(({ seq }) => seq));
    const rest = changed.filter(({ seq }) => !judged.has(seq));
    expect(new Set(rest.map((line) => line.error?.code))).toEqual(new Set(['SOURCE_CHANGED']));
    const codes = (name: string): unknown[] =>
      byPath.get(`uploads/${name}`)!.map((line) => line.error?.code ?? 'ok');
    expect(new Set(codes('b.csv'))).toEqual(new Set(['ok']));
    expect(codes('b.csv')).toHaveLength(300);
    expect([codes('c.txt'), codes('d.txt'), codes('e.txt')]).toEqual([['ok'], ['SOURCE_CHANGED'], ['ok']]);
    expect(byPath.has('uploads/late.csv')).toBe(false);
    expect(lines.map((line) => line.seq)).toEqual(lines.map((_, index) => index));
    expect(await verifyRun(run, {})).toMatchObject({ ok: true });
  });

  it('ends the items of a file that is gone', async () => {
    const { corpus, run, planned } = await killedRun();
    await rm(join(corpus, 'a.csv'));
    expect((await guardsweep(['resume', run])).status).toBe(5);
    const lines = await outcomes(run);
    const gone = lines.filter((line) => line.source.path === 'uploads/a.csv');
    expect(gone).toHaveLength(planned + 1);
    expect(await verifyRun(run, {})).toMatchObject({ ok: true });
  });
});
