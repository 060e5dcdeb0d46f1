import { status } from '@grpc/grpc-js';
import { expect, test } from 'vitest';
import type { ItemCode } from '../../src/domain/item-error.ts';
import type { Outcome } from '../../src/domain/outcome.ts';
import { connect, expectToOutlast, guard, judge } from '../helpers/guards/guard-pool.ts';
import { expectFirstTries, expectOnlyFailure } from '../helpers/guards/outcomes.ts';
import { prompt, prompts } from '../helpers/guards/requests.ts';
import type { Scripted, SeenRequest } from '../helpers/guards/scripted-guard.ts';

const BAD = 'text 17';

const holdsBad = ({ inputs }: SeenRequest): boolean => inputs['TEXT']!.includes(BAD);

/** Judges 64 items of which one has this fault. */
async function oneBadOf64(fault: (request: SeenRequest) => Scripted): Promise<Outcome[]> {
  const server = await guard({ script: (request) => (holdsBad(request) ? fault(request) : undefined) });
  return judge(await connect([server]), prompts(64));
}

test.each<[code: status, details: string, expected: ItemCode]>([
  [status.INTERNAL, 'cuda error', 'GUARD_INTERNAL'],
  [status.INTERNAL, 'Stub process guard_0 is not healthy.', 'GUARD_UNAVAILABLE'],
  [status.UNAVAILABLE, 'Exceeds maximum queue size', 'GUARD_OVERLOADED'],
])(
  'an item on which the guard keeps failing ends after five attempts: %i %s → %s',
  async (code, details, expected) => {
    let singles = 0;
    const outcomes = await oneBadOf64(({ rows }) => {
      if (rows === 1) singles++;
      return { code, details };
    });
    expectOnlyFailure(outcomes, 17, expected, 5);
    expect(singles).toBeGreaterThanOrEqual(5);
  },
);

test('no text from the guard is kept (C-707)', async () => {
  const details = 'EMPTY_CONTENT: the text «quoted content» is blank';
  const outcomes = await oneBadOf64(() => ({ code: status.INVALID_ARGUMENT, details }));
  expectOnlyFailure(outcomes, 17, 'EMPTY_CONTENT');
  expect(JSON.stringify(outcomes)).not.toContain('quoted');
});

test('an execution that fails as a whole costs the other items no attempts', async () => {
  // As a server that merges single requests into one execution: all that run together with the bad one fail.
  const together: SeenRequest[] = [];
  const details = "Failed to process the request(s) for model instance 'guard_0'";
  const server = await guard({
    maxBatchSize: 0,
    script: async (request) => {
      together.push(request);
      await new Promise((resolve) => setTimeout(resolve, 10));
      const failed = together.some(holdsBad);
      await new Promise(setImmediate);
      together.splice(together.indexOf(request), 1);
      return failed ? { code: status.INTERNAL, details } : undefined;
    },
  });
  expectOnlyFailure(await judge(await connect([server]), prompts(24)), 17, 'GUARD_INTERNAL', 5);
});

test('a batch over a message limit is halved until it fits', async () => {
  const tooLarge = { code: status.RESOURCE_EXHAUSTED, details: 'Received message larger than max' };
  const server = await guard({ script: ({ rows }) => (rows > 10 ? tooLarge : undefined) });
  expectFirstTries(await judge(await connect([server]), prompts(64)));
  expect(Math.max(...server.seen.filter(({ rows }) => rows <= 10).map(({ rows }) => rows))).toBe(8);
});

test('a guard that refuses everything is taken out of use, and no item is refused', async () => {
  let refusal: Scripted = { code: status.INVALID_ARGUMENT, details: 'unexpected shape' };
  const pool = await connect([await guard({ script: () => refusal })]);
  await expectToOutlast(pool, [prompt('a')], () => {
    expect(pool.status()[0]!.state).toMatchObject({ name: 'out', reason: 'fails on harmless text' });
    refusal = undefined;
  });
});
