import { setTimeout as sleep } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import { expect, test } from 'vitest';
import { connect, connected, expectToOutlast, guard, judge } from '../../helpers/guards/guard-pool.ts';
import { failure, verdict } from '../../helpers/guards/outcomes.ts';
import { prompts } from '../../helpers/guards/requests.ts';
import { fingerprintIdOf } from '../../helpers/guards/scripted-guard.ts';

test('when the model changes in the middle, every verdict names the one that gave it (C-903)', async () => {
  const server = await guard({
    script: async ({ number }) => {
      if (number === 6) server.deploy('model-b', '2');
      if (number === 14) server.deploy('model-c', '2');
      await sleep(5);
    },
  });
  const pool = await connect([server]);
  const outcomes = await judge(pool, prompts(64 * 20));
  const models = new Set<string>();
  for (const [index, outcome] of outcomes.entries()) {
    const { fingerprint, attempts } = verdict(outcome);
    const model = server.judged.get(`text ${index}`)!.at(-1)!;
    models.add(model);
    expect(fingerprint).toBe(fingerprintIdOf(model));
    expect(attempts).toBe(1);
  }
  expect(models.has('model-c')).toBe(true);
  for (const model of ['model-a', 'model-c'])
    expect(pool.fingerprints.has(fingerprintIdOf(model))).toBe(true);
  expect(pool.status()[0]).toMatchObject({ fingerprint: fingerprintIdOf('model-c'), modelVersion: '2' });
});

test('a change that only model_version shows voids the answers around it', async () => {
  const server = await guard({
    script: ({ number }) => {
      if (number === 3) server.deploy('model-a', '2');
    },
  });
  const pool = await connect([server]);
  const outcomes = await judge(pool, prompts(64 * 8));
  for (const outcome of outcomes) expect(verdict(outcome).fingerprint).toBe(fingerprintIdOf('model-a'));
  expect(pool.status()[0]!.retries.MODEL_CHANGED).toBeGreaterThan(0);
});

test('a model that changes with every reading ends the item after a bounded number of answers', async () => {
  let version = 1;
  const server = await guard({ onVersion: () => server.deploy(`model-${version++}`, '1') });
  const outcomes = await judge(await connect([server]), prompts(2));
  for (const outcome of outcomes) expect(failure(outcome).error.code).toBe('GUARD_INTERNAL');
});

test('readings are shared: a few per second, whatever is judged between them', async () => {
  const { server, pool } = await connected(guard, { script: () => sleep(10) });
  const begun = performance.now();
  await judge(pool, prompts(64 * 100));
  const seconds = (performance.now() - begun) / 1000;
  expect(server.seen.length).toBe(100);
  expect(server.readings()).toBeLessThan(4 + 25 * Math.max(1, seconds));
});

test('another fingerprint than expected stops everything, at the start and later (C-904)', async () => {
  const server = await guard();
  const other = connect([server], { expectFingerprint: fingerprintIdOf('model-b') });
  await expect(other).rejects.toMatchObject({ kind: 'service' });
  const pool = await connect([server], { expectFingerprint: fingerprintIdOf('model-a') });
  (await judge(pool, prompts(1))).map(verdict);
  server.deploy('model-b', '1');
  await expect(judge(pool, prompts(1))).rejects.toMatchObject({ kind: 'service' });
  await expect(judge(pool, prompts(1))).rejects.toMatchObject({ kind: 'service' });
});

test('an endpoint whose version cannot be read any more is taken out of use, and its answers are judged again', async () => {
  let readable = true;
  const { server, pool } = await connected(guard, {
    script: ({ number }) => void (readable &&= number !== 0),
    onVersion: () => (readable ? undefined : { code: status.INTERNAL, details: 'no' }),
  });
  await expectToOutlast(pool, prompts(3), () => (readable = true));
  expect(server.judged.get('text 0')).toHaveLength(2);
});
