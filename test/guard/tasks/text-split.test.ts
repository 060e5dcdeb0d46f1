import { status } from '@grpc/grpc-js';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { GuardRequest } from '../../../src/domain/request.ts';
import { cutInHalf } from '../../../src/guard/tasks/text-split.ts';
import {
  closeAfterEach,
  connect,
  failure,
  guard,
  judge,
  prompt,
  prompts,
  verdict,
} from '../../helpers/guard-pool.ts';
import { type Scripted, type SeenRequest, scoreOf } from '../../helpers/scripted-guard.ts';

closeAfterEach();

const REFUSED = { code: status.INVALID_ARGUMENT, details: 'something else' };
/** 3000 bytes, 2000 code points; the white space nearest to the middle is after 1000 of them. */
const halvesWith = (letter: string) => [`${`a${letter}`.repeat(499)}a `, `${letter}a`.repeat(500)] as const;
const [FIRST, SECOND] = halvesWith('é');
const LONG = FIRST + SECOND;

function texts({ inputs }: SeenRequest): readonly string[] {
  return inputs['RESPONSE_TEXT'] ?? inputs['TEXT'] ?? [];
}

const refuse =
  (...refused: readonly string[]) =>
  (request: SeenRequest): Scripted =>
    texts(request).some((text) => refused.includes(text)) ? REFUSED : undefined;

// The letters are chosen for their scores: unflagged both, the second half worse, the first worse.
test.each([
  ['é', 1000, false],
  ['à', 1000, true],
  ['ù', 0, true],
] as const)(
  'a long text refused without a reason has the verdict of its worse half: %s',
  async (letter, worstAt, flagged) => {
    const halves = halvesWith(letter);
    const long = halves.join('');
    const server = await guard({ script: refuse(long) });
    const outcomes = await judge(await connect([server]), [...prompts(20), prompt(long)]);
    expect(verdict(outcomes[20])).toMatchObject({
      score: expect.closeTo(scoreOf(halves[worstAt === 0 ? 0 : 1]), 6) as number,
      flagged,
      coverage: { unit: 'chars', judged: 2000, total: 2000, worst_at: worstAt },
      attempts: 2,
    });
    for (const outcome of outcomes.slice(0, 20)) expect(verdict(outcome).attempts).toBe(1);
    for (const half of halves) expect(server.judged.get(half)).toHaveLength(1);
  },
);

test('of a response only the response is cut; both halves go with the prompt', async () => {
  const server = await guard({ script: refuse(LONG) });
  const request: GuardRequest = { requestType: 'response', modality: 'text', prompt: 'why', response: LONG };
  verdict((await judge(await connect([server]), [request]))[0]);
  const halves = server.seen.filter((seen) => texts(seen)[0] !== LONG && seen.type === 'response');
  expect(halves.flatMap(texts).toSorted()).toEqual([FIRST, SECOND].toSorted());
  for (const { inputs } of halves) expect(inputs['TEXT']).toContain('why');
});

test('a long prompt is cut where the response is short: both halves go with the response, which is judged once', async () => {
  const server = await guard({
    script: (seen) => (seen.inputs['TEXT']?.includes(LONG) ? REFUSED : undefined),
  });
  const request: GuardRequest = { requestType: 'response', modality: 'text', prompt: LONG, response: 'no' };
  const judged = verdict((await judge(await connect([server]), [request]))[0]);
  expect(judged.coverage).toEqual({ unit: 'chars', judged: 2, total: 2, worst_at: 0 });
  const halves = server.seen.filter(({ inputs }) => inputs['TEXT']?.[0]?.startsWith(LONG) === false);
  const responses = halves.filter(({ type }) => type === 'response');
  expect(responses.map(({ inputs }) => inputs['TEXT']![0]!).toSorted()).toEqual([FIRST, SECOND].toSorted());
  for (const { inputs } of responses) expect(inputs['RESPONSE_TEXT']).toEqual(['no']);
});

test.each([FIRST, SECOND])(
  'a half that is refused, too, ends the item as refused, without cutting on',
  async (half) => {
    const server = await guard({ script: refuse(LONG, half) });
    const pool = await connect([server]);
    const failed = failure((await judge(pool, [prompt(LONG)]))[0]);
    expect(failed).toMatchObject({ error: { code: 'GUARD_REJECTED' }, attempts: 2 });
    expect(new Set(server.seen.flatMap(texts).filter((text) => text.length >= 900))).toEqual(
      new Set([LONG, FIRST, SECOND]),
    );
    expect(pool.status()[0]).toMatchObject({ inFlight: 0, queued: 0 });
  },
);

test('a half on which the guard keeps failing ends the item with a code that may be retried', async () => {
  const server = await guard({
    script: (request) =>
      texts(request).includes(SECOND) ? { code: status.INTERNAL, details: 'trouble' } : refuse(LONG)(request),
  });
  const failed = failure((await judge(await connect([server]), [prompt(LONG)]))[0]);
  expect(failed).toMatchObject({ error: { code: 'GUARD_INTERNAL' }, attempts: 5 });
});

test('neither a short text nor an explained refusal nor a conversation is cut', async () => {
  const short = 'a '.repeat(1024);
  const server = await guard({
    script: (request) =>
      request.type === 'multiturn'
        ? REFUSED
        : texts(request).includes(LONG)
          ? { code: status.INVALID_ARGUMENT, details: 'SEQUENCE_OVERFLOW: too long' }
          : refuse(short)(request),
  });
  const chat: GuardRequest = {
    requestType: 'multiturn',
    modality: 'text',
    messages: [['user', LONG]],
    turns: 1,
    conversation: null,
  };
  const outcomes = await judge(await connect([server]), [prompt(LONG), prompt(short), chat, prompt('fine')]);
  expect(outcomes.map((outcome) => outcome.failure?.error.code)).toEqual([
    'SEQUENCE_OVERFLOW',
    'GUARD_REJECTED',
    'GUARD_REJECTED',
    undefined,
  ]);
});

test('halves judged by different models are thrown away: the whole text is tried again', async () => {
  let answerSecond = (): void => {};
  const held = new Promise<void>((resolve) => (answerSecond = resolve));
  let seconds = 0;
  const server = await guard({
    maxBatchSize: 0,
    script: async (request) => {
      if (!texts(request).includes(SECOND) || seconds++ > 0) return refuse(LONG)(request);
      await held;
      return { code: status.UNAVAILABLE, details: 'try later' };
    },
    onVersion: () => {
      // The first half is closed by the old model before the second is judged at all.
      if (server.judged.has(FIRST)) setImmediate(swap);
    },
  });
  const swap = (): void => {
    server.deploy('model-b', '2');
    answerSecond();
  };
  const pool = await connect([server]);
  const judged = verdict((await judge(pool, [prompt(LONG)]))[0]);
  expect(pool.fingerprints.size).toBe(2);
  expect(judged.fingerprint).toBe([...pool.fingerprints.keys()][1]);
  expect(server.judged.get(FIRST)).toEqual(['model-a', 'model-b']);
  expect(server.judged.get(SECOND)!.at(-1)).toBe('model-b');
});

test('a cut loses nothing, divides no character, and leaves no blank half', () => {
  const unit = fc.oneof(
    fc.constantFrom(' ', '\n', '\ud83d', '\ude00'),
    fc.string({ unit: 'binary', maxLength: 4 }),
  );
  fc.assert(
    fc.property(
      fc.array(unit, { maxLength: 40 }).map((units) => units.join('')),
      (text) => {
        const halves = cutInHalf(text);
        if (halves === null) return;
        expect(halves.join('')).toBe(text);
        for (const half of halves) expect(half.trim()).not.toBe('');
        expect([...halves[0], ...halves[1]]).toEqual([...text]);
      },
    ),
  );
  expect(cutInHalf(`a${' '.repeat(20)}`)).toBeNull();
});
