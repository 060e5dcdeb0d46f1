import { expect, test } from 'vitest';
import type { Turn } from '../../src/domain/request.ts';
import { connect, connected, guard, judge } from '../helpers/guards/guard-pool.ts';
import { verdict } from '../helpers/guards/outcomes.ts';
import { audio, conversation, image, prompt, prompts, response } from '../helpers/guards/requests.ts';
import { scoreOf } from '../helpers/guards/fake-contract.ts';
import { gate } from '../helpers/guards/gate.ts';
import type { SeenRequest } from '../helpers/guards/scripted-guard.ts';

test('judges a shard in full batches, each outcome belonging to its request', async () => {
  const { server, pool } = await connected(guard);
  const outcomes = await judge(pool, prompts(256));
  expect(server.seen.map((request) => request.rows)).toEqual([64, 64, 64, 64]);
  expect(server.seen[0]!.shapes).toEqual({ REQUEST_TYPE: [64, 1], MODALITY: [64, 1], TEXT: [64, 1] });
  const [fingerprint] = pool.fingerprints.keys();
  const same = { fingerprint: fingerprint!, attempts: 1, endpoint: server.address, cacheUsage: null };
  for (const [index, outcome] of outcomes.entries()) {
    const judgement = verdict(outcome);
    expect(judgement).toMatchObject({ score: scoreOf(`text ${index}`), ...same });
    expect(judgement.subcategoryScores === null).toBe(!judgement.flagged);
  }
  expect(pool.fingerprints.size).toBe(1);
  expect(pool.status()).toMatchObject([{ state: { name: 'ready' }, inFlight: 0, queued: 0, successes: 4 }]);
});

test('each kind of request has its own set of inputs and its own batches', async () => {
  const { server, pool } = await connected(guard);
  await judge(pool, [prompt('a'), response('p', 'b'), response(null, 'c'), prompt('d'), response('q', 'e')]);
  const sets = server.seen.map(({ inputs }) => inputs);
  const two = { MODALITY: ['text', 'text'] };
  expect(sets).toEqual([
    { REQUEST_TYPE: ['prompt', 'prompt'], ...two, TEXT: ['a', 'd'] },
    { REQUEST_TYPE: ['response', 'response'], ...two, TEXT: ['p', 'q'], RESPONSE_TEXT: ['b', 'e'] },
    { REQUEST_TYPE: ['response'], MODALITY: ['text'], RESPONSE_TEXT: ['c'] },
  ]);
});

const MESSAGES: readonly Turn[] = [
  ['system', 'be brief'],
  ['user', 'one'],
  ['assistant', 'two'],
  ['user', 'three'],
];

test('a conversation judged once is sent whole, in its own session without cache writes (C-208)', async () => {
  const { server, pool } = await connected(guard);
  const whole = conversation(MESSAGES);
  const outcomes = await judge(pool, [whole, whole]);
  expect(verdict(outcomes[0]).coverage).toEqual({ unit: 'turns', judged: 4, total: 4, worst_at: null });
  expect(verdict(outcomes[0]).cacheUsage).toEqual([1, 2, 3, 4, 5, 6, 7, -8]);
  const [first, second] = server.seen;
  const one = { REQUEST_TYPE: [1, 1], MODALITY: [1, 1], SESSION_ID: [1, 1], CACHE_WRITE: [1, 1] };
  expect(first!.shapes).toEqual({ ...one, MESSAGES: [1, 4, 2] });
  expect(first!.inputs['MESSAGES']).toEqual(MESSAGES.flat());
  expect(first!.cacheWrite).toEqual([false]);
  expect(first!.inputs['SESSION_ID']).not.toEqual(second!.inputs['SESSION_ID']);
});

test('turns of one conversation are sent in order under one session, conversations in parallel (C-209, C-416, C-418)', async () => {
  const bothStarted = gate();
  const underWay = new Set<string>();
  const { server, pool } = await connected(guard, {
    script: async ({ inputs }) => {
      const session = inputs['SESSION_ID']![0]!;
      expect(underWay.has(session)).toBe(false);
      underWay.add(session);
      if (underWay.size === 2) bothStarted.open();
      await bothStarted.opened;
      underWay.delete(session);
    },
  });
  const turns = (of: number) => [2, 3, 4].map((count) => conversation(MESSAGES, { turns: count, of }));
  const outcomes = await judge(pool, [...turns(10), ...turns(13)]);
  outcomes.map(verdict);
  for (const first of ['session-10', 'session-13']) {
    const own = server.seen.filter(({ inputs }) => inputs['SESSION_ID']![0] === first);
    expect(own.map(({ shapes }) => shapes['MESSAGES']![1])).toEqual([2, 3, 4]);
    expect(own.map(({ cacheWrite }) => cacheWrite)).toEqual([[true], [true], [true]]);
  }
});

test('images and clips are sent one per request in base64, in parallel with texts (C-101, C-206)', async () => {
  const { server, pool } = await connected(guard);
  const media = [image('i'), image('j', 'caption'), audio('k'), audio('l', 'said')];
  const outcomes = await judge(pool, [prompt('a'), ...media, prompt('b')]);
  const sent = server.seen.map(({ inputs }) => inputs);
  const base64 = (text: string): string[] => [Buffer.from(text).toString('base64')];
  const one = { REQUEST_TYPE: ['prompt'] };
  expect(new Set(sent)).toEqual(
    new Set([
      { REQUEST_TYPE: ['prompt', 'prompt'], MODALITY: ['text', 'text'], TEXT: ['a', 'b'] },
      { ...one, MODALITY: ['image'], IMAGE: base64('i') },
      { ...one, MODALITY: ['image'], IMAGE: base64('j'), TEXT: ['caption'] },
      { ...one, MODALITY: ['audio'], AUDIO: base64('k') },
      { ...one, MODALITY: ['audio'], AUDIO: base64('l'), TEXT: ['said'] },
    ]),
  );
  expect(verdict(outcomes[1]).score).toBe(scoreOf(base64('i')[0]!));
  expect(verdict(outcomes[2]).coverage).toEqual({ unit: 'frames', judged: 1, total: 1, worst_at: null });
});

test('large images are bounded in flight by the bytes they take in a message', async () => {
  let most = 0;
  const script = ({ inFlight }: SeenRequest) => void (most = Math.max(most, inFlight));
  const { server, pool } = await connected(guard, { script });
  const large = Array.from({ length: 6 }, (_, index) => image(Buffer.alloc(6 * 1024 * 1024, index)));
  (await judge(pool, large)).map(verdict);
  // 8 MiB each in a message, and 32 MiB may be under way.
  expect(most).toBeLessThanOrEqual(4);
  expect(server.seen).toHaveLength(6);
});

test('the turns of a conversation go to one endpoint, in order, while conversations go on side by side (C-418)', async () => {
  const guards = await Promise.all([guard(), guard()]);
  const pool = await connect(guards);
  const messages = Array.from({ length: 6 }, (_, n): Turn => [n % 2 === 0 ? 'user' : 'assistant', `é${n}`]);
  const requests = Array.from({ length: 20 }, (_, of) =>
    messages.map((_, n) => conversation(messages, { turns: n + 1, of: of * 6 })),
  ).flat();
  const endpoints = (await judge(pool, requests)).map((outcome) => verdict(outcome).endpoint);
  for (let first = 0; first < endpoints.length; first += 6) {
    expect(new Set(endpoints.slice(first, first + 6)).size).toBe(1);
  }
  expect(new Set(endpoints).size).toBe(2);
});
