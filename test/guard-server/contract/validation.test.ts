import { describe, expect, it } from 'vitest';
import { status } from '@grpc/grpc-js';
import fc from 'fast-check';
import { encodeStrings } from '../../../src/guard/tensors/raw.ts';
import { column, flags, messages, output, promptInputs, row } from '../../helpers/guards/guard-client.ts';
import type { TestRequest, TestTensor } from '../../helpers/guards/guard-client.ts';
import { sharedGuard } from '../../helpers/guards/shared-guard.ts';

/** Planted in contents: no answer may repeat it. */
const MARKER = 'zebrafinch';

const { client } = await sharedGuard({ maxBatchSize: 8, synthetic: { contextTokens: 50 } });

async function refusal(request: TestRequest): Promise<{ code: status; details: string }> {
  const error = await client.infer({ id: 'q7', ...request }).then(
    () => null,
    (caught: unknown) => caught as { code: status; details: string },
  );
  if (error === null) throw new Error('the request was answered');
  expect(error.details).not.toContain(MARKER);
  return error;
}

describe('what the contract refuses (C-211)', () => {
  const text = (TEXT: string) => row({ MODALITY: 'text', TEXT });
  const picture = (IMAGE: string, more = {}) => row({ MODALITY: 'image', IMAGE, ...more });
  const captioned = (TEXT: string) => picture('YWJj', { TEXT });
  const response = (RESPONSE_TEXT: string, more = {}) =>
    row({ REQUEST_TYPE: 'response', RESPONSE_TEXT, ...more });
  const conversation = (...turns: Parameters<typeof messages>) => [
    ...row({ REQUEST_TYPE: 'multiturn' }),
    messages(...turns),
  ];
  const long = `${MARKER} `.repeat(30);
  const longTurns = conversation(['user', MARKER.repeat(11)], ['assistant', MARKER.repeat(11)]);
  const notUtf8 = { ...column('TEXT', ['']), raw: Buffer.from([2, 0, 0, 0, 0xc3, 0x28]) };
  const mixedTypes = [column('REQUEST_TYPE', ['version', 'prompt']), ...promptInputs(['', 'a']).slice(1)];
  const cases: [what: string, code: string, tensors: TestTensor[]][] = [
    ['image with an empty IMAGE', 'MISSING_PAYLOAD', picture('')],
    ['a conversation without turns', 'INVALID_CONVERSATION', conversation()],
    ['a final system turn', 'INVALID_CONVERSATION', conversation(['user', MARKER], ['system', MARKER])],
    ['blank text', 'EMPTY_CONTENT', text(' \n\t\u00a0')],
    ['a blank response', 'EMPTY_CONTENT', response(' ')],
    ['a blank prompt to a response', 'EMPTY_CONTENT', response(MARKER, { TEXT: ' ' })],
    ['a blank caption', 'EMPTY_CONTENT', captioned('\n')],
    ['a caption over the window', 'SEQUENCE_OVERFLOW', captioned(long)],
    ['a conversation over the window', 'SEQUENCE_OVERFLOW', longTurns],
    ['a REQUEST_TYPE that is none', 'GUARD_REJECTED', row({ REQUEST_TYPE: MARKER, TEXT: MARKER })],
    ['a MODALITY that is none', 'GUARD_REJECTED', row({ MODALITY: MARKER, TEXT: MARKER })],
    ['a MODALITY that the type does not take', 'GUARD_REJECTED', response(MARKER, { MODALITY: 'image' })],
    ['bad base64', 'GUARD_REJECTED', picture(`!${MARKER}!`)],
    ['more base64 than is taken', 'GUARD_REJECTED', picture('YWJj'.repeat(16 * 1024 * 1024 + 1))],
    ['a text that is not UTF-8', 'GUARD_REJECTED', [...row({ MODALITY: 'text' }), notUtf8]],
    ['rows of version and of other types', 'GUARD_REJECTED', mixedTypes],
  ];
  it.each(cases)('%s → %s (C-701, C-702, C-703, C-704)', async (_what, code, tensors) => {
    const error = await refusal({ tensors });
    expect(error.code).toBe(status.INVALID_ARGUMENT);
    expect(error.details).toMatch(new RegExp(`^\\[request id: q7\\] ${code}: `));
  });

  it('takes a text that just fits the window (C-706, C-813)', async () => {
    const reply = await client.infer({ tensors: row({ MODALITY: 'text', TEXT: 'a'.repeat(200) }) });
    expect(output(reply, 'SCORE')).toHaveLength(1);
  });
});

describe('what the protocol refuses', () => {
  const good = promptInputs([MARKER]);
  const textInput = good[2]!;
  const typedInput = { name: 'TEXT', datatype: 'BYTES', shape: [1, 1] };
  const contents = { bytes_contents: [Buffer.from('a')] };
  const [raw_input_contents, intContents] = [[textInput.raw], { int_contents: [1] }];
  const cacheWrite = flags('CACHE_WRITE', [true]);
  const region = { shared_memory_region: { string_param: 'region' } };
  /** The request with the text input changed. */
  const changed = (change: Partial<TestTensor>): TestRequest => ({ tensors: [{ ...textInput, ...change }] });
  const cases: [what: string, request: TestRequest][] = [
    ['no input', {}],
    ['an unknown input', { tensors: [...good, column('PROMPT', ['a'])] }],
    ['a repeated input', { tensors: [...good, textInput] }],
    ['an unknown output', { tensors: good, outputs: [{ name: 'RISK' }] }],
    ['another data type', changed({ datatype: 'FP32' })],
    ['a shape without batch dimension', changed({ shape: [1] })],
    ['a batch of none', changed({ shape: [0, 1], raw: Buffer.alloc(0) })],
    ['different batch sizes', { tensors: [column('MODALITY', ['text', 'text']), textInput] }],
    ['a batch that is too large', { tensors: promptInputs(Array<string>(9).fill('a')) }],
    ['fewer elements than the shape says', changed({ shape: [2, 1] })],
    ['broken framing', changed({ raw: textInput.raw.subarray(0, -1) })],
    ['a boolean that is none', { tensors: [...good, { ...cacheWrite, raw: Buffer.from([2]) }] }],
    ['raw and typed contents', { inputs: [{ ...typedInput, contents }], raw_input_contents }],
    ['typed contents of another type', { inputs: [{ ...typedInput, contents: intContents }] }],
    ['a reserved parameter', { tensors: good, parameters: { triton_anything: { bool_param: true } } }],
    ['an output in shared memory', { tensors: good, outputs: [{ name: 'SCORE', parameters: region }] }],
    ['an input in shared memory', { inputs: [{ ...typedInput, parameters: region, contents }] }],
  ];
  it.each(cases)('%s', async (_what, request) => {
    const error = await refusal(request);
    expect(error.code).toBe(status.INVALID_ARGUMENT);
    expect(error.details).toMatch(/^\[request id: q7\] /);
  });

  it.each([
    ['model', status.NOT_FOUND, "Request for unknown model: 'other' is not found", { model_name: 'other' }],
    ['version', status.NOT_FOUND, "unknown model: 'guard' version 12 is not found", { model_version: '12' }],
    ['version', status.INVALID_ARGUMENT, 'a model version is a whole number', { model_version: 'v1' }],
  ])('another %s', async (_what, code, text, named) => {
    const details = expect.stringContaining(text) as string;
    expect(await refusal({ ...named, tensors: good })).toMatchObject({ code, details });
  });

  it('answers any nonsense with a refusal or a verdict, and goes on serving', async () => {
    const names = 'REQUEST_TYPE MODALITY TEXT IMAGE AUDIO MESSAGES CACHE_WRITE X';
    const name = fc.constantFrom(...names.split(' '));
    const value = fc.oneof(
      fc.constantFrom('prompt', 'multiturn', 'version', 'text', 'image', 'audio', 'user', 'system', ''),
      fc.string(),
    );
    const raw = fc.oneof(
      fc.array(value, { maxLength: 4 }).map(encodeStrings),
      fc.uint8Array({ maxLength: 12 }).map((bytes) => Buffer.from(bytes)),
    );
    const shape = fc.array(fc.integer({ min: -1, max: 3 }), { maxLength: 4 });
    const datatype = fc.constantFrom('BYTES', 'BYTES', 'BOOL', 'FP32');
    const tensors = fc.array(fc.record({ name, datatype, shape, raw }), { maxLength: 4 });
    const allowed = [status.OK, status.INVALID_ARGUMENT, status.FAILED_PRECONDITION];
    await fc.assert(
      fc.asyncProperty(tensors, async (given) => {
        const code = await client.infer({ tensors: given }).then(
          () => status.OK,
          (error: { code: status }) => error.code,
        );
        expect(allowed).toContain(code);
      }),
      { numRuns: 75 },
    );
    expect(await client.call('ServerReady', {})).toEqual({ ready: true });
  });
});
