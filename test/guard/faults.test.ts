import { status } from '@grpc/grpc-js';
import { expect, test } from 'vitest';
import type { ItemCode } from '../../src/domain/item-error.ts';
import {
  connect,
  expectOnlyFailure,
  failure,
  guard,
  judge,
  openAiServer,
  prompt,
  prompts,
  stateOf,
  verdict,
} from '../helpers/guards/guard-pool.ts';
import type { Scripted, SeenRequest } from '../helpers/guards/scripted-guard.ts';

const BAD = 'text 17';

function holdsBad({ inputs }: SeenRequest): boolean {
  return inputs['TEXT']!.includes(BAD);
}

/** Judges 64 items of which one has this fault; all others must come out as first tries. */
async function oneBadOf64(fault: (request: SeenRequest) => Scripted): Promise<ReturnType<typeof failure>> {
  const server = await guard({ script: (request) => (holdsBad(request) ? fault(request) : undefined) });
  const outcomes = await judge(await connect([server]), prompts(64));
  outcomes.forEach((outcome, index) => {
    if (index !== 17) expect(verdict(outcome).attempts).toBe(1);
  });
  return failure(outcomes[17]);
}

const rows: [code: status, details: string, expected: ItemCode][] = [
  [status.INTERNAL, 'cuda error', 'GUARD_INTERNAL'],
  [status.INTERNAL, "Failed to process the request(s) for model instance 'guard'", 'GUARD_INTERNAL'],
  [status.UNAVAILABLE, 'Exceeds maximum queue size', 'GUARD_OVERLOADED'],
];
test.each(rows)(
  'an item on which the guard keeps failing ends after five attempts: %i %s → %s',
  async (code, details, expected) => {
    let singles = 0;
    const failed = await oneBadOf64(({ rows: count }) => {
      if (count === 1) singles++;
      return { code, details };
    });
    expect(failed).toMatchObject({ error: { code: expected }, attempts: 5 });
    expect(singles).toBeGreaterThanOrEqual(5);
  },
);

test('no text from the guard is kept (C-707)', async () => {
  const failed = await oneBadOf64(() => ({
    code: status.INVALID_ARGUMENT,
    details: 'EMPTY_CONTENT: the text «quoted content» is blank',
  }));
  expect(JSON.stringify(failed)).not.toContain('quoted');
});

test('an execution that fails as a whole costs the other items no attempts', async () => {
  // As a server that merges single requests into one execution: all that run together with the bad one fail.
  const together: SeenRequest[] = [];
  const server = await guard({
    maxBatchSize: 0,
    script: async (request) => {
      together.push(request);
      await new Promise((resolve) => setTimeout(resolve, 10));
      const failed = together.some(holdsBad);
      await new Promise(setImmediate);
      together.splice(together.indexOf(request), 1);
      return failed
        ? { code: status.INTERNAL, details: "Failed to process the request(s) for model instance 'guard_0'" }
        : undefined;
    },
  });
  const outcomes = await judge(await connect([server]), prompts(24));
  outcomes.forEach((outcome, index) => {
    if (index === 17)
      expect(failure(outcome)).toMatchObject({ error: { code: 'GUARD_INTERNAL' }, attempts: 5 });
    else expect(verdict(outcome).attempts).toBe(1);
  });
});

test('a batch over a message limit is halved until it fits', async () => {
  const server = await guard({
    script: ({ rows }) =>
      rows > 10
        ? { code: status.RESOURCE_EXHAUSTED, details: 'Received message larger than max' }
        : undefined,
  });
  const outcomes = await judge(await connect([server]), prompts(64));
  for (const outcome of outcomes) expect(verdict(outcome).attempts).toBe(1);
  expect(Math.max(...server.seen.filter(({ rows }) => rows <= 10).map(({ rows }) => rows))).toBe(8);
});

test('a guard that refuses everything is taken out of use, and no item is refused', async () => {
  let refuse = true;
  const server = await guard({
    script: () => (refuse ? { code: status.INVALID_ARGUMENT, details: 'unexpected shape' } : undefined),
  });
  const pool = await connect([server]);
  const out = stateOf(pool, 'out');
  const outcome = judge(pool, [prompt('a')]);
  await out;
  expect(pool.status()[0]!.state).toMatchObject({ name: 'out', reason: 'fails on harmless text' });
  refuse = false;
  expect(verdict((await outcome)[0]).attempts).toBe(1);
});

const TOO_LARGE =
  'Request too large for gpt-4o in organization org on tokens per min (TPM): Limit 10000, Requested 12000.';

test.each<[why: string, body: object, code: ItemCode, attempts: number]>([
  ['for its rate limit', { error: {} }, 'GUARD_OVERLOADED', 5],
  ['for being too large', { error: { message: TOO_LARGE } }, 'ITEM_TOO_LARGE', 1],
])('an item that a guard always turns away with 429 %s ends alone', async (_, body, code, attempts) => {
  const llama = { family: 'llama-guard', model: 'meta-llama/Llama-Guard-3-8B' } as const;
  const script = ({ content }: { content: string }) => (content === BAD ? { status: 429, body } : undefined);
  const outcomes = await judge(await connect([await openAiServer({ ...llama, script })]), prompts(20));
  expectOnlyFailure(outcomes, 17, code, attempts);
});
