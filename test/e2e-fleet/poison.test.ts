import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { verifyRun } from '../../src/record/verify/verify.ts';
import { type Cli, printedRun, temporaryFolder } from '../helpers/cli.ts';
import { Fleet, expectStatus } from '../helpers/fleet.ts';
import { redisForTest } from '../helpers/redis/redis.ts';
import { outcomes } from '../helpers/run-directory.ts';
import { guard } from '../helpers/guards/guard-pool.ts';

const ROWS = 600;
const DEADLY = new Set([17, 400]);

it('two items that kill every worker that asks for them end as INTERNAL, all others as verdicts', async () => {
  const redis = await redisForTest();
  const folder = await temporaryFolder();
  const corpus = join(folder, 'comments.csv');
  const textOf = (row: number) => `${DEADLY.has(row) ? 'deadly' : 'harmless'} ${row}`;
  const rows = Array.from({ length: ROWS }, (_, row) => `c-${row},${textOf(row)}`);
  await writeFile(corpus, `id,text\n${rows.join('\n')}\n`);
  let deaths = 0;
  let over = false;
  onTestFinished(() => void (over = true));

  /** A worker beside a guard of its own, which kills it when it is asked for a deadly text. */
  const workerThatDies = async (): Promise<void> => {
    let worker: Cli | null = null;
    const server = await guard({
      script: (request) => {
        if (!(request.inputs['TEXT'] ?? []).some((text) => text.startsWith('deadly'))) return;
        deaths++;
        worker!.kill('SIGKILL');
        return new Promise(() => {});
      },
    });
    const fleet = new Fleet({ redis, out: folder, guards: [server.address] });
    const live = async (): Promise<void> => {
      while (!over) {
        worker = fleet.worker();
        await worker.finished();
      }
    };
    void live();
  };
  await workerThatDies();
  await workerThatDies();
  const fleet = new Fleet({ redis, out: folder, guards: [] });
  fleet.sink();
  const done = await fleet.enqueue(corpus).finished();
  over = true;
  expectStatus(done, 5);
  const run = printedRun(done);
  const lines = await outcomes(run);
  expect(lines).toHaveLength(ROWS);
  const failed = lines.filter(({ status }) => status === 'error').map(({ seq, error }) => [seq, error?.code]);
  expect(failed).toEqual([...DEADLY].map((seq) => [seq, 'INTERNAL']));
  expect(await verifyRun(run, {})).toMatchObject({ ok: true });
  console.log(`${deaths} workers died`);
});
