import { status } from '@grpc/grpc-js';
import { describe, expect, test } from 'vitest';
import {
  closeAfterEach,
  connect,
  conversation,
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
import type { RpcError } from '../../helpers/guards/fake-grpc.ts';
import type { KserveServerOptions, Metadata } from '../../helpers/guards/kserve-server.ts';

closeAfterEach();

const refusal = async (options: KserveServerOptions) => refusalOf([await kserveServer(options)]);

describe('a server without ModelConfig', () => {
  const forms: [KserveServerOptions & { declared: 'batched' | 'singles' }, maxBatchSize: number][] = [
    [{ declared: 'batched', replies: 'typed' }, 16],
    [{ declared: 'batched', replies: 'raw' }, 16],
    [{ declared: 'singles', replies: 'typed' }, 0],
    [{ declared: 'singles', replies: 'raw' }, 0],
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

  test.each<[what: string, change: (metadata: Metadata) => Metadata]>([
    ['STRING for BYTES', (metadata) => retyped(metadata, 'BYTES', 'STRING')],
    ['more inputs and outputs', (metadata) => withExtra(metadata)],
    [
      'no media',
      ({ inputs, outputs }) => ({ inputs: inputs.filter(({ name }) => !/IMAGE|AUDIO/.test(name)), outputs }),
    ],
  ])('may declare %s', async (_, changeMetadata) => {
    const outcomes = await judge(await connect([await kserveServer({ changeMetadata })]), prompts(3));
    outcomes.map(verdict);
  });

  test('with a batch dimension of 1 gets one row at a time', async () => {
    const changeMetadata = ({ inputs, outputs }: Metadata): Metadata => ({
      inputs: inputs.map((tensor) => ({ ...tensor, shape: [1, ...tensor.shape.slice(1)] })),
      outputs,
    });
    const server = await kserveServer({ changeMetadata });
    (await judge(await connect([server]), prompts(20))).map(verdict);
    expect(server.seen.every(({ length }) => length === 1)).toBe(true);
  });
});

describe('a server that declares other tensors', () => {
  test('none: the message says what it must declare', async () => {
    const message = await refusal({ declared: 'nothing' });
    expect(message).toContain(
      'ModelMetadata declares no inputs: the server must declare the inputs REQUEST_TYPE,',
    );
    expect(message).toContain('and the outputs SCORE and FLAGGED');
    expect(message).not.toContain('protocol');
  });

  const others: [says: string, change: (metadata: Metadata) => Metadata][] = [
    ['ModelMetadata declares no outputs', ({ inputs }) => ({ inputs, outputs: [] })],
    ['input MESSAGES is missing', ({ inputs, outputs }) => ({ inputs: inputs.slice(0, -2), outputs })],
    ['input REQUEST_TYPE is not BYTES', (metadata) => retyped(metadata, 'BYTES', 'FP64')],
    ['input CACHE_WRITE is not BOOL', (metadata) => retyped(metadata, 'BOOL', 'UINT8')],
    [
      'input MESSAGES does not have the shape [-1, -1, 2]',
      (metadata) => reshaped(metadata, 'MESSAGES', [-1, 2]),
    ],
    ['input TEXT does not have the shape [-1, 1]', (metadata) => reshaped(metadata, 'TEXT', [64, 1])],
    ['output SCORE does not have the shape [-1, 1]', (metadata) => reshaped(metadata, 'SCORE', [-1])],
  ];
  test.each(others)('%s', async (says, changeMetadata) => {
    expect(await refusal({ changeMetadata })).toContain(says);
  });
});

describe('ModelReady that answers an error', () => {
  const unknown: RpcError[] = [
    { code: status.NOT_FOUND, details: 'Model with name guard does not exist.' },
    {
      code: status.UNKNOWN,
      details: "Unexpected <class 'mlserver.errors.ModelNotFound'>: Model guard not found",
    },
    { code: status.INVALID_ARGUMENT, details: 'Model guard not found' },
  ];
  test.each(unknown)('for a wrong model name is a failure at once: $details', async (error) => {
    const message = await refusal({ modelReady: () => error, metadataError: () => error });
    expect(message).toContain('it has no model guard');
  });

  test('while the model loads is waited for', async () => {
    let left = 1;
    const loading = { code: status.UNKNOWN, details: 'Unexpected RuntimeError: still loading' };
    const server = await kserveServer({ modelReady: () => (left-- > 0 ? loading : true) });
    (await judge(await connect([server]), prompts(2))).map(verdict);
  });

  test('is reported as a model that is not ready while its metadata is there', async () => {
    const server = await kserveServer({
      modelReady: () => ({ code: status.UNKNOWN, details: 'Unexpected RuntimeError: still loading' }),
    });
    await expect(readingOf(server)).rejects.toThrow('its model guard is not ready');
  });
});

test('an item over the message limit of the server names that limit, and the others are judged', async () => {
  const server = await kserveServer({ maxMessageBytes: 64 * 1024 });
  const requests = [
    ...prompts(20),
    prompt('x'.repeat(100_000)),
    prompt('y'.repeat(30_000)),
    prompt('z'.repeat(40_000)),
  ];
  const outcomes = await judge(await connect([server]), requests);
  expect(failure(outcomes[20])).toMatchObject({
    error: { code: 'ITEM_TOO_LARGE', message: expect.stringContaining('message size limit') as string },
    attempts: 1,
  });
  outcomes.splice(20, 1);
  for (const outcome of outcomes) expect(verdict(outcome).attempts).toBe(1);
});

function retyped({ inputs, outputs }: Metadata, from: string, to: string): Metadata {
  return {
    inputs: inputs.map((tensor) => (tensor.datatype === from ? { ...tensor, datatype: to } : tensor)),
    outputs,
  };
}

function reshaped({ inputs, outputs }: Metadata, name: string, shape: number[]): Metadata {
  const change = (tensors: Metadata['inputs']) =>
    tensors.map((tensor) => (tensor.name === name ? { ...tensor, shape } : tensor));
  return { inputs: change(inputs), outputs: change(outputs) };
}

function withExtra({ inputs, outputs }: Metadata): Metadata {
  const more = { name: 'MORE', datatype: 'FP64', shape: [3] };
  return { inputs: [...inputs, more], outputs: [...outputs, more] };
}
