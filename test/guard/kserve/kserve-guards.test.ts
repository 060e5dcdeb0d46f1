import { describe, expect, test } from 'vitest';
import {
  connect,
  conversation,
  expectOnlyFailure,
  failure,
  image,
  judge,
  kserveServer,
  prompt,
  prompts,
  readingOf,
  verdict,
} from '../../helpers/guards/guard-pool.ts';
import type { KserveServerOptions, Metadata } from '../../helpers/guards/kserve-server.ts';

describe('a server without ModelConfig', () => {
  const forms: [KserveServerOptions & { declared: 'batched' | 'singles' }, maxBatchSize: number][] = [
    [{ declared: 'batched', replies: 'raw' }, 16],
    [{ declared: 'singles', replies: 'typed' }, 0],
  ];
  test.each(forms)(
    'judges as its metadata declares: $declared, replies $replies',
    async (form, maxBatchSize) => {
      const server = await kserveServer(form);
      expect(await readingOf(server)).toMatchObject({
        kind: 'triton',
        maxBatchSize,
        instances: null,
        fingerprint: { artifacts: { 'model.bin': expect.any(String) as string } },
      });
      const pool = await connect([server]);
      const outcomes = await judge(pool, [...prompts(100), image('i'), conversation([['user', 'hello']])]);
      const judgements = outcomes.map(verdict);
      expect(new Set(judgements.map(({ score }) => score)).size).toBe(102);
      expect(judgements.some(({ subcategoryFlags }) => subcategoryFlags?.[0] === 'hate')).toBe(true);
      expect(judgements.at(-1)!.cacheUsage).toEqual([1, 2, 3, 4, 5, 6, 7, -8]);
      const rows = Math.max(...server.seen.map((contents) => contents.length));
      expect(rows).toBe(Math.max(1, maxBatchSize));
    },
  );

  test('may declare more inputs and outputs', async () => {
    const more = { name: 'MORE', datatype: 'FP64', shape: [3] };
    const changeMetadata = ({ inputs, outputs }: Metadata): Metadata => ({
      inputs: [...inputs, more],
      outputs: [...outputs, more],
    });
    (await judge(await connect([await kserveServer({ changeMetadata })]), prompts(3))).map(verdict);
  });
});

test('an item over the message limit of the server names that limit, and the others are judged', async () => {
  const server = await kserveServer({ maxMessageBytes: 64 * 1024 });
  const large = [100_000, 30_000, 40_000].map((length) => prompt('x'.repeat(length)));
  const outcomes = await judge(await connect([server]), [...prompts(20), ...large]);
  expectOnlyFailure(outcomes, 20, 'ITEM_TOO_LARGE');
  expect(failure(outcomes[20]).error.message).toContain('message size limit');
});
