import { createSecretKey } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { recordSha256 } from '../../../src/config/run-config.ts';
import type { Item, JudgedItem, Lane } from '../../../src/domain/item.ts';
import type { ShardResult } from '../../../src/domain/shard.ts';
import { sinkQueue } from '../../../src/fleet/redis/fleet-queues.ts';
import { FleetRuns } from '../../../src/fleet/redis/fleet-runs.ts';
import { sinkJobCodec, type ResultJob, type SinkJob } from '../../../src/fleet/jobs/result-job.ts';
import { settledMark } from '../../../src/fleet/jobs/settled-mark.ts';
import { FleetSeal } from '../../../src/queue/redis/sealing/fleet-seal.ts';
import { FeedClaim } from '../../../src/runs/control/feed-claim.ts';
import { verifyRun } from '../../../src/record/verify/verify.ts';
import { temporaryFolder } from '../../helpers/cli.ts';
import { knownItem } from '../../helpers/items.ts';
import { linkForTest, redisForTest } from '../../helpers/redis/redis.ts';
import { outcomes } from '../../helpers/run-directory.ts';
import { settled } from '../../helpers/settled.ts';
import { forger } from '../../queue/redis/shards-at-work.ts';
import { sinkAtWork } from '../sink-at-work.ts';
import { claim, closingOf, feeding, newRun, openPlan, signal } from '../../record/run-fixture.ts';
import {
  DECLARED,
  fingerprint,
  FINGERPRINT,
  planLine,
  resultOf,
  shardOf,
  verdict,
} from '../../record/shards.ts';

setMaxListeners(0, signal);

const KEY = new FleetSeal(createSecretKey('a'.repeat(64), 'utf8'));
/** Two shards of three items each. */
const SHARDS = [shardOf(0, [0, 1, 2]), shardOf(1, [3, 4, 5])] as const;

/** A run that is planned to its end and fed, a sink that holds it, and a forger who needs no key of ours. */
async function fedRun(
  seal: FleetSeal | null,
  { expected = null as string | null, headFile = null as string | null } = {},
) {
  const link = await linkForTest(await redisForTest(), [], seal);
  const run = await newRun({ expectFingerprint: expected });
  const name = run.record.run;
  const earlier = await FeedClaim.take(run.dir, { fleet: true });
  await earlier.release();
  const { epoch, key } = await feeding(run.dir);
  const log = await claim(run);
  const plan = await openPlan(run.dir, log);
  const genuine = SHARDS.map((shard) => resultOf(shard));
  await plan.append([...SHARDS.map(planLine), closingOf(run.record, 1, genuine)]);
  await plan.close();
  await log.close();
  const runs = new FleetRuns(link);
  await runs.register({ run: name, dir: run.dir, epoch }, signal);

  const dropped: string[] = [];
  const committed: Lane[] = [];
  let finished = 0;
  const observer = {
    finished: () => void finished++,
    committed: (lane: Lane) => void committed.push(lane),
    dropped: (reason: string) => void dropped.push(reason),
  };
  const { said } = sinkAtWork(link, dirname(run.dir), { observer, headFile });

  const results = sinkQueue(link, name);
  onTestFinished(() => results.close());
  const add = forger(link, `results-${name}`);
  const record = recordSha256(run.record);
  const of = { run: name, record, epoch };
  const job = (result: ShardResult, more: Partial<ResultJob> = {}): ResultJob => {
    return { kind: 'result', ...of, settledMark: null, result, ...more };
  };
  /** A name that is known in Redis cannot be added again. */
  const emptied = (): Promise<void> =>
    settled(async () => {
      const { waiting, active, delayed } = await results.depth(signal);
      return waiting + active + delayed === 0;
    });
  return {
    name,
    record,
    said,
    dropped,
    committed,
    epoch,
    key,
    job,
    finished: () => finished,
    idle: emptied,
    /** Puts data into the queue as it is. */
    forge: (jobId: string, data: object) => emptied().then(() => add(jobId, data)),
    put: (value: SinkJob) => emptied().then(() => results.put(value, signal)),
    /** Has a sink told of it that all is judged, and checks that the run ends as it should. */
    endsRight: async () => {
      await emptied();
      for (const shard of SHARDS) await results.put(job(resultOf(shard)), signal);
      await settled(() => committed.length === SHARDS.length);
      await results.put({ kind: 'finish', ...of, pass: 1 }, signal);
      await settled(() => finished === 1);
      expect(await runs.takeProblem(name, epoch, signal)).toBeNull();
      expect(await verifyRun(run.dir)).toMatchObject({ ok: true, items: 6, verdicts: 6, errors: 0 });
      const idOf = ({ seq, id }: { readonly seq: number; readonly id: string }) => [seq, id];
      const items = SHARDS.flatMap((shard) => shard.items);
      expect((await outcomes(run.dir)).map(idOf)).toEqual(items.map(idOf));
    },
  };
}

/** Shard 0 and its result, with one of its items changed. */
function withItem(change: (item: JudgedItem) => JudgedItem): ShardResult {
  const [first, ...rest] = SHARDS[0].items;
  return resultOf({ ...SHARDS[0], items: [change(first as JudgedItem), ...rest] });
}

const GENUINE = resultOf(SHARDS[0]);
const OTHER = fingerprint('b');
const FALSE = { ...FINGERPRINT, artifacts: OTHER.artifacts };
const ELSEWHERE = { ...SHARDS[0].items[0]!.source, path: 'elsewhere.csv' };
const [, ...OTHERS] = GENUINE.outcomes;
const declared = { ...DECLARED, artifacts: { ...DECLARED.artifacts, model: 'another' } };
const MISFITS: [what: string, reason: string, result: ShardResult][] = [
  ['a shard that is not planned', 'not planned', resultOf(shardOf(7, [0, 1, 2]))],
  ['a shard far beyond the plan', 'not planned', resultOf(shardOf(2 ** 50, [0, 1, 2]))],
  ['another pass', 'other pass', resultOf({ ...SHARDS[0], pass: 2 })],
  ['another id', 'other items', withItem((item) => ({ ...item, id: 'another' }))],
  ['another content hash', 'other items', withItem((item) => ({ ...item, contentSha256: 'f'.repeat(64) }))],
  ['another source', 'other items', withItem((item) => ({ ...item, source: ELSEWHERE }))],
  ['another seq', 'other items', withItem((item) => ({ ...item, seq: 9 }))],
  ['an outcome too few', 'incomplete', { ...GENUINE, outcomes: OTHERS }],
  ['no fingerprint with it', 'other fingerprint', { ...GENUINE, fingerprints: [] }],
  [
    'a fingerprint that is not that of its artifacts',
    'other fingerprint',
    { ...GENUINE, fingerprints: [FALSE] },
  ],
  ['a false declaration', 'other fingerprint', { ...GENUINE, fingerprints: [FINGERPRINT, declared] }],
];

/** The data of a job that no key seals. */
const plainJob = (job: SinkJob): object => ({ plain: sinkJobCodec.encode(job).toString('base64') });

it('a result that does not fit its plan, a score of 7 is dropped, and the run ends right', async () => {
  const { put, job, forge, dropped, committed, said, name, endsRight } = await fedRun(null);
  for (const [what, reason, result] of MISFITS) {
    await put(job(result));
    await settled(() => dropped.length === 1);
    expect([what, dropped.pop(), committed]).toEqual([what, reason, []]);
    expect(said).toContain(`the run ${name}: outcomes that do not fit its plan, dropped (${reason})`);
  }
  const forged = job(resultOf(SHARDS[0], (item) => verdict(item, { score: 7 })));
  await forge(sinkJobCodec.id(forged), plainJob(forged));
  await settled(() => dropped.length === 1);
  expect([dropped, committed]).toEqual([['malformed'], []]);
  await endsRight();
});

it('a result by another model than the run expects is dropped, and the run ends right', async () => {
  const { put, job, dropped, committed, endsRight } = await fedRun(null, { expected: FINGERPRINT.id });
  for (const print of [OTHER.id, DECLARED.id, null]) {
    const result = resultOf(SHARDS[0], (item) => verdict(item, { fingerprint: print }));
    await put(job({ ...result, fingerprints: [OTHER, DECLARED] }));
    await settled(() => dropped.pop() === 'other fingerprint');
  }
  expect(committed).toEqual([]);
  await endsRight();
});

it('a result with items that its feeder did not settle so is dropped, and the run ends right', async () => {
  const { put, job, key, dropped, committed, endsRight } = await fedRun(null);
  const [first, second, third] = SHARDS[0].items as JudgedItem[];
  const of = { ...second!, request: null } as const;
  const kind = { modality: 'text', requestType: 'prompt' } as const;
  const verdictOfOther = knownItem(1, 0.1).settled;
  const known: Item = { ...of, ...kind, settled: verdictOfOther };
  const other: Item = { ...known, settled: knownItem(1, 0.9).settled };
  const result = (item: Item): ShardResult => ({
    ...resultOf({ ...SHARDS[0], items: [first!, item, third!] }),
    fingerprints: [FINGERPRINT, verdictOfOther.fingerprint],
  });
  const marks = [null, 'a'.repeat(64), settledMark(key, result(other).shard)];
  for (const mark of marks) await put(job(result(known), { settledMark: mark }));
  await put(job(GENUINE, { settledMark: settledMark(key, result(known).shard) }));
  await settled(() => dropped.length === 4);
  expect([new Set(dropped), committed]).toEqual([new Set(['not settled so']), []]);
  await put(job(result(known), { settledMark: settledMark(key, result(known).shard) }));
  await settled(() => committed.length === 1);
  await endsRight();
});

it('a result of another run of the same name, or of an earlier feeder, is dropped, and the run ends right', async () => {
  const { put, job, dropped, committed, epoch, endsRight } = await fedRun(KEY);
  await put(job(GENUINE, { record: '0'.repeat(64) }));
  await settled(() => dropped.length === 1);
  await put(job(GENUINE, { epoch: epoch - 1 }));
  await put(job(GENUINE, { epoch: epoch + 1 }));
  await settled(() => dropped.length === 3);
  expect([dropped, committed]).toEqual([['other run', 'other feeder', 'other feeder'], []]);
  await endsRight();
});

it('a request to finish a run before its time is dropped, and the run ends right', async () => {
  const { put, name, record, epoch, dropped, endsRight } = await fedRun(null);
  for (const pass of [1, 2]) {
    await put({ kind: 'finish', run: name, record, epoch, pass });
    await settled(() => dropped.length === pass);
  }
  expect(dropped).toEqual(['unfinished', 'unfinished']);
  await endsRight();
});

it('what was not sealed with the fleet key, or for another place, is dropped, and the run ends right', async () => {
  const { name, job, forge, dropped, committed, said, epoch, endsRight } = await fedRun(KEY);
  const genuine = job(GENUINE);
  const id = sinkJobCodec.id(genuine);
  const bytes = sinkJobCodec.encode(genuine);
  const folder = `results-${name}`;
  const sealed = (place: { run?: string; folder?: string; name?: string }, seal = KEY): object => ({
    sealed: seal.sealBytes({ run: name, folder, name: id, ...place }, bytes).toString('base64'),
  });
  const forged: object[] = [
    plainJob(genuine),
    sealed({}, new FleetSeal(createSecretKey('b'.repeat(64), 'utf8'))),
    sealed({ run: '20261121T020000Z-other-ab12' }),
    sealed({ folder: 'shards-text' }),
    sealed({ name: `s-${name}-1-1-${epoch}` }),
  ];
  for (const [index, data] of forged.entries()) {
    await forge(id, data);
    await settled(() => dropped.length === index + 1);
  }
  expect(dropped).toEqual(forged.map(() => 'forged'));
  expect(committed).toEqual([]);
  expect(said.filter((line) => line.includes('forged'))).toHaveLength(1);
  await endsRight();
});

it('requests to finish a finished run, sent again and again, note its head once and say so once', async () => {
  const headFile = join(await temporaryFolder(), 'heads.jsonl');
  const { name, record, said, epoch, forge, endsRight, finished, idle } = await fedRun(KEY, { headFile });
  await endsRight();
  const finish: SinkJob = { kind: 'finish', run: name, record, epoch, pass: 1 };
  const id = sinkJobCodec.id(finish);
  const place = { run: name, folder: `results-${name}`, name: id };
  const sealed = KEY.sealBytes(place, sinkJobCodec.encode(finish)).toString('base64');
  for (let times = 0; times < 20; times++) await forge(id, { sealed });
  await idle();
  expect((await readFile(headFile, 'utf8')).trim().split('\n')).toHaveLength(1);
  expect(said.filter((line) => line.includes('is finished'))).toHaveLength(1);
  expect(finished()).toBe(1);
});
