import { status } from '@grpc/grpc-js';
import { describe, expect, test } from 'vitest';
import {
  closeAfterEach,
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
  refusalOf,
  verdict,
} from '../../helpers/guards/guard-pool.ts';
import type { KserveServerOptions, Metadata } from '../../helpers/guards/kserve-server.ts';

closeAfterEach();

const refusal = async (options: KserveServerOptions) => refusalOf([await kserveServer(options)]);

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

describe('a server that declares other tensors', () => {
  test('none: the message says what it must declare', async () => {
    const message = await refusal({ declared: 'nothing' });
    expect(message).toContain('ModelMetadata declares no inputs: the server must declare the inputs');
  });

  const others: [says: string, name: string, change: object][] = [
    ['input MESSAGES is missing', 'MESSAGES', { name: 'OTHER' }],
    ['input REQUEST_TYPE is not BYTES', 'REQUEST_TYPE', { datatype: 'FP64' }],
    ['input MESSAGES does not have the shape [-1, -1, 2]', 'MESSAGES', { shape: [-1, 2] }],
    ['output SCORE does not have the shape [-1, 1]', 'SCORE', { shape: [-1] }],
  ];
  test.each(others)('%s', async (says, name, change) => {
    const changed = (tensors: Metadata['inputs']) =>
      tensors.map((tensor) => (tensor.name === name ? { ...tensor, ...change } : tensor));
    const changeMetadata = ({ inputs, outputs }: Metadata): Metadata => ({
      inputs: changed(inputs),
      outputs: changed(outputs),
    });
    expect(await refusal({ changeMetadata })).toContain(says);
  });
});

test('a wrong model name is a failure at once', async () => {
  const error = { code: status.NOT_FOUND, details: 'Model with name guard does not exist.' };
  const message = await refusal({ modelReady: () => error, metadataError: () => error });
  expect(message).toContain('it has no model guard');
});

test('an item over the message limit of the server names that limit, and the others are judged', async () => {
  const server = await kserveServer({ maxMessageBytes: 64 * 1024 });
  const large = [100_000, 30_000, 40_000].map((length) => prompt('x'.repeat(length)));
  const outcomes = await judge(await connect([server]), [...prompts(20), ...large]);
  expectOnlyFailure(outcomes, 20, 'ITEM_TOO_LARGE');
  expect(failure(outcomes[20]).error.message).toContain('message size limit');
});
