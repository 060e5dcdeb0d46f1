import { status } from '@grpc/grpc-js';
import { afterEach, expect, test } from 'vitest';
import { type GuardRequest } from '../../src/domain/request.ts';
import { connectGuards, type GuardPool, type PoolOptions } from '../../src/guard/pool.ts';
import {
  type ScriptedGuard,
  type ScriptedGuardOptions,
  scoreOf,
  startScriptedGuard,
} from '../helpers/scripted-guard.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const it of open.splice(0).reverse()) await it.close();
});

async function guard(options?: ScriptedGuardOptions): Promise<ScriptedGuard> {
  const started = await startScriptedGuard(options);
  open.push({ close: () => started.kill() });
  return started;
}

async function connect(
  guards: readonly ScriptedGuard[],
  options: Partial<PoolOptions> = {},
): Promise<GuardPool> {
  const pool = await connectGuards(
    guards.map(({ address }) => ({ name: address, address })),
    { expectFingerprint: null, maxWaitMs: 20_000, ...options },
    new AbortController().signal,
  );
  open.push(pool);
  return pool;
}

function prompts(count: number, word = 'text'): GuardRequest[] {
  return Array.from({ length: count }, (_, i) => ({
    requestType: 'prompt',
    modality: 'text',
    text: `${word} number ${i}`,
  }));
}

const live = { session: 's', signal: new AbortController().signal };

test('judges a shard in full batches, each outcome belonging to its request', async () => {
  const server = await guard();
  const pool = await connect([server]);
  const requests = prompts(256);
  const outcomes = await pool.judge(requests, live);
  expect(server.seen.map((request) => request.rows)).toEqual([64, 64, 64, 64]);
  expect(server.seen[0]!.shapes).toEqual({ REQUEST_TYPE: [64, 1], MODALITY: [64, 1], TEXT: [64, 1] });
  for (const [i, outcome] of outcomes.entries()) {
    const judgement = outcome.judgement!;
    expect(Math.fround(judgement.score)).toBe(scoreOf(`text number ${i}`));
    expect(judgement.attempts).toBe(1);
    expect(judgement.endpoint).toBe(server.address);
    expect([...pool.fingerprints.keys()]).toEqual([judgement.fingerprint]);
  }
});

test('a poisoned item costs one item: the other 63 of its batch get the verdicts of a clean run', async () => {
  const requests = prompts(64);
  const clean = await (await connect([await guard()])).judge(requests, live);
  const server = await guard({
    script: ({ inputs }) =>
      inputs['TEXT']!.includes('text number 17')
        ? { code: status.INVALID_ARGUMENT, details: '[request id: <id_unknown>] EMPTY_CONTENT: blank' }
        : undefined,
  });
  const outcomes = await (await connect([server])).judge(requests, live);
  for (const [i, outcome] of outcomes.entries()) {
    if (i === 17) expect(outcome.failure!.error.code).toBe('EMPTY_CONTENT');
    else expect(outcome.judgement!.score).toBe(clean[i]!.judgement!.score);
  }
});
