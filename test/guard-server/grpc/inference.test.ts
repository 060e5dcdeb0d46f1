import { describe, expect, it } from 'vitest';
import { status } from '@grpc/grpc-js';
import { column, messages, output, promptInputs } from '../../helpers/guards/guard-client.ts';
import { guardForTest, sharedGuard } from '../../helpers/guards/shared-guard.ts';

const { client } = await sharedGuard({ synthetic: { contextTokens: 100 } });

it('describes its inputs, its outputs and how it batches (C-201)', async () => {
  expect(await client.call('ServerMetadata', {})).toMatchObject({ name: 'guardsweep' });
  const described = client.call<{ inputs: object[]; outputs: object[] }>('ModelMetadata', { name: 'guard' });
  const { inputs, outputs } = await described;
  expect(inputs).toContainEqual({ name: 'MESSAGES', datatype: 'BYTES', shape: [-1, -1, 2] });
  expect(outputs).toContainEqual({ name: 'SUBCATEGORY_SCORES', datatype: 'FP32', shape: [-1, 13] });
  const config = await client.config();
  expect(config.max_batch_size).toBe(64);
  expect(config.input).toHaveLength(9);
  expect(config.input.every(({ optional }) => optional)).toBe(true);
  expect(config.dynamic_batching!.default_queue_policy!.max_queue_size).toBe(1024);
});

describe('verdicts', () => {
  it('answers a batch with raw tensors of the declared shapes and echoes the id (C-212)', async () => {
    const reply = await client.infer({ id: 'r-1', tensors: promptInputs(['one', 'two', 'three']) });
    expect(reply).toMatchObject({ id: 'r-1', model_name: 'guard', model_version: '1' });
    expect(reply.outputs.map(({ name, datatype, shape }) => [name, datatype, shape])).toEqual([
      ['SCORE', 'FP32', [3, 1]],
      ['FLAGGED', 'BOOL', [3, 1]],
      ['SUBCATEGORY_SCORES', 'FP32', [3, 13]],
      ['SUBCATEGORY_FLAGS', 'BOOL', [3, 13]],
      ['CACHE_USAGE', 'INT32', [3, 8]],
    ]);
    expect(reply.raw_output_contents.map((raw) => raw.length)).toEqual([12, 3, 156, 39, 96]);
  });

  it('populates subcategories of flagged rows only (C-214, C-215)', async () => {
    const texts = Array.from({ length: 64 }, (_, index) => `sample ${index}`);
    const reply = await client.infer({ tensors: promptInputs(texts) });
    const scores = output(reply, 'SCORE') as number[];
    const flagged = output(reply, 'FLAGGED') as boolean[];
    const categories = output(reply, 'SUBCATEGORY_SCORES') as number[];
    const categoryFlags = output(reply, 'SUBCATEGORY_FLAGS') as boolean[];
    expect(flagged).toContain(true);
    expect(flagged).toContain(false);
    flagged.forEach((flag, row) => {
      expect(flag).toBe(scores[row]! >= 0.5);
      expect(categories.slice(row * 13, row * 13 + 13).some((score) => score > 0)).toBe(flag);
      expect(categoryFlags.slice(row * 13, row * 13 + 13).includes(true)).toBe(flag);
    });
  });

  it('takes typed contents as well as raw ones', async () => {
    const typed = (name: string, text: string) => {
      return { name, datatype: 'BYTES', shape: [1, 1], contents: { bytes_contents: [Buffer.from(text)] } };
    };
    const write = {
      name: 'CACHE_WRITE',
      datatype: 'BOOL',
      shape: [1, 1],
      contents: { bool_contents: [true] },
    };
    const reply = await client.infer({ inputs: [typed('MODALITY', 'text'), typed('TEXT', 'two'), write] });
    const raw = await client.infer({ tensors: promptInputs(['two']) });
    expect(output(reply, 'SCORE')).toEqual(output(raw, 'SCORE'));
    expect(reply.raw_output_contents).toHaveLength(5);
  });
});

it('without batching has no batch dimension (C-208)', async () => {
  const { client: plain } = await guardForTest({ maxBatchSize: 0 });
  const config = await plain.config();
  expect(config.max_batch_size).toBe(0);
  expect(config.dynamic_batching ?? null).toBeNull();
  const flat = (name: string, text: string) => ({ ...column(name, [text]), shape: [1] });
  const reply = await plain.infer({ tensors: [flat('MODALITY', 'text'), flat('TEXT', 'two')] });
  expect(reply.outputs.map(({ shape }) => shape)).toEqual([[1], [1], [13], [13], [8]]);
  const batched = await client.infer({ tensors: promptInputs(['two']) });
  expect(output(reply, 'SCORE')).toEqual(output(batched, 'SCORE'));
  const turns = { ...messages(['user', 'hello']), shape: [1, 2] };
  const multiturn = await plain.infer({ tensors: [flat('REQUEST_TYPE', 'multiturn'), turns] });
  expect(output(multiturn, 'SCORE')).toHaveLength(1);
  const refused = plain.infer({ tensors: promptInputs(['two']) });
  await expect(refused).rejects.toMatchObject({ code: status.INVALID_ARGUMENT });
});
