import { status } from '@grpc/grpc-js';
import { expect, test } from 'vitest';
import type { MediaKind } from '../../../src/domain/request.ts';
import type { GuardPool } from '../../../src/guard/pool/pool.ts';
import { freePort } from '../../helpers/free-port.ts';
import { connect, connected, guard, judge, stateOf } from '../../helpers/guards/guard-pool.ts';
import { failure, verdict } from '../../helpers/guards/outcomes.ts';
import { audio, prompts } from '../../helpers/guards/requests.ts';
import type { Scripted, ScriptedGuard, SeenRequest } from '../../helpers/guards/scripted-guard.ts';

test('starts with the guards that are ready, and uses the others once they have loaded their model', async () => {
  const port = await freePort();
  const server = await guard();
  const pool = await connect([server, { address: `grpc://127.0.0.1:${port}` }], { startTimeoutMs: 6000 });
  expect(pool.status().map(({ state }) => state.name)).toEqual(['ready', 'out']);
  const joined = stateOf(pool, 'ready', `grpc://127.0.0.1:${port}`);
  let asked = 0;
  const late = await guard({ port, config: (all) => (asked++ === 0 ? { ...all, output: [] } : all) });
  await joined;
  expect(asked).toBe(2);
  await Promise.all([judge(pool, prompts(64)), judge(pool, prompts(64))]);
  expect(late.seen.length).toBeGreaterThan(0);
});

test('the token of an endpoint is sent as a bearer token (C-505)', async () => {
  const server = await guard();
  const pool = await connect([server], { token: ({ name }) => (name === server.address ? 'secret' : null) });
  (await judge(pool, prompts(1))).map(verdict);
  expect(server.seen[0]!.authorization).toBe('Bearer secret');
});

test('a pool that does not wait for guards starts before any is ready, and requests wait for one', async () => {
  const port = await freePort();
  const address = `grpc://127.0.0.1:${port}`;
  const pool = await connect([{ address }], { maxWaitMs: null, waitsForGuards: false });
  expect(pool.status()).toMatchObject([{ name: address, state: { name: 'out' } }]);
  const stream = { prompt: 'say it', cadenceChunks: 1, signal: new AbortController().signal };
  await expect(pool.openStream(stream as never)).rejects.toMatchObject({ status: 'UNAVAILABLE' });
  const judged = judge(pool, prompts(3));
  await guard({ port });
  expect(await judged).toHaveLength(3);
});

const CLIP: MediaKind = { modality: 'audio', described: false };
const DESCRIBED: MediaKind = { modality: 'audio', described: true };

/** Judges clips by their transcript and not without one. */
function deaf({ inputs }: SeenRequest): Scripted {
  const isDeafTo = inputs['AUDIO'] !== undefined && inputs['TEXT'] === undefined;
  return isDeafTo ? { code: status.FAILED_PRECONDITION, details: 'PROBE_NOT_LOADED: audio' } : undefined;
}

const notJudged = (pool: GuardPool, kind: MediaKind) => pool.notJudged(kind, new AbortController().signal);
const clipsSeenBy = ({ seen }: ScriptedGuard) => seen.filter(({ inputs }) => inputs['AUDIO'] !== undefined);

test('a guard without a probe for audio is asked once for all clips', async () => {
  const { server, pool } = await connected(guard, { script: deaf });
  const [of] = await judge(pool, [audio('a clip')]);
  const answers = await Promise.all(Array.from({ length: 50 }, () => notJudged(pool, CLIP)));
  for (const answer of answers) expect(answer).toEqual(failure(of).error);
  expect(await notJudged(pool, CLIP)).toEqual(failure(of).error);
  expect(clipsSeenBy(server)).toHaveLength(2);
  expect(await notJudged(pool, DESCRIBED)).toBeNull();
  verdict((await judge(pool, [audio('a clip', 'a transcript')]))[0]);
});

test('of two guards the one with an audio probe judges all clips', async () => {
  const first = await guard({ script: deaf });
  const second = await guard();
  const pool = await connect([first, second]);
  expect(await notJudged(pool, CLIP)).toBeNull();
  const clips = Array.from({ length: 40 }, (_, n) => audio(`clip ${n}`));
  const outcomes = await judge(pool, [...clips, ...prompts(20)]);
  for (const outcome of outcomes.slice(0, 40)) expect(verdict(outcome).endpoint).toBe(second.address);
  expect(clipsSeenBy(first)).toHaveLength(1);
});

test('another model is asked again', async () => {
  let isDeaf = true;
  const script = (request: SeenRequest) => (isDeaf ? deaf(request) : undefined);
  const { server, pool } = await connected(guard, { script });
  expect(await notJudged(pool, CLIP)).not.toBeNull();
  isDeaf = false;
  server.deploy('model-b', '2');
  // A verdict is closed by a reading, which tells that the model changed.
  await judge(pool, prompts(1));
  expect(await notJudged(pool, CLIP)).toBeNull();
  verdict((await judge(pool, [audio('a clip')]))[0]);
});
