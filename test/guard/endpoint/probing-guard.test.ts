import { status } from '@grpc/grpc-js';
import { expect, test } from 'vitest';
import type { MediaKind } from '../../../src/domain/request.ts';
import type { GuardPool } from '../../../src/guard/pool/pool.ts';
import { audio, connect, failure, guard, judge, prompts, verdict } from '../../helpers/guards/guard-pool.ts';
import type { Scripted, ScriptedGuard, SeenRequest } from '../../helpers/guards/scripted-guard.ts';

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
  const server = await guard({ script: deaf });
  const pool = await connect([server]);
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
  const server = await guard({ script: (request) => (isDeaf ? deaf(request) : undefined) });
  const pool = await connect([server]);
  expect(await notJudged(pool, CLIP)).not.toBeNull();
  isDeaf = false;
  server.deploy('model-b', '2');
  // A verdict is closed by a reading, which tells that the model changed.
  await judge(pool, prompts(1));
  expect(await notJudged(pool, CLIP)).toBeNull();
  verdict((await judge(pool, [audio('a clip')]))[0]);
});
