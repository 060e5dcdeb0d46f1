import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { status } from '@grpc/grpc-js';
import fc from 'fast-check';
import { encodeStrings } from '../../../src/guard/tensors/raw.ts';
import { startGuardServer, type GuardServer } from '../../../src/guard-server/server.ts';
import {
  column,
  flags,
  messages,
  output,
  promptInputs,
  TestClient,
  type TestRequest,
  type TestTensor,
} from '../../helpers/guards/guard-client.ts';

/** Planted in contents: no answer may repeat it. */
const MARKER = 'zebrafinch';

let server: GuardServer;
let client: TestClient;

beforeAll(async () => {
  server = await startGuardServer({
    model: 'synthetic',
    grpcPort: 0,
    maxBatchSize: 8,
    synthetic: { serviceTime: 'zero', contextTokens: 50 },
  });
  client = new TestClient(server.address);
});

afterAll(async () => {
  client.close();
  await server.close();
});

async function refusal(request: TestRequest): Promise<{ code: status; details: string }> {
  const error = await client.infer({ id: 'q7', ...request }).then(
    () => null,
    (caught: unknown) => caught as { code: status; details: string },
  );
  if (error === null) throw new Error('the request was answered');
  expect(error.details).not.toContain(MARKER);
  return error;
}

const text = (value: string): TestTensor => column('TEXT', [value]);
const modality = (value: string): TestTensor => column('MODALITY', [value]);
const requestType = (value: string): TestTensor => column('REQUEST_TYPE', [value]);
const conversation = (...turns: [string, string][]): TestTensor[] => [
  requestType('multiturn'),
  messages(turns),
];
const base64 = (content: string): string => Buffer.from(content, 'latin1').toString('base64');
const notUtf8 = (name: string): TestTensor => ({
  ...column(name, ['']),
  raw: Buffer.from([2, 0, 0, 0, 0xc3, 0x28]),
});

describe('what the contract refuses (C-211)', () => {
  const cases: [what: string, code: string, tensors: TestTensor[]][] = [
    ['image with an empty IMAGE', 'MISSING_PAYLOAD', [modality('image'), column('IMAGE', [''])]],
    [
      'a conversation without turns',
      'INVALID_CONVERSATION',
      [requestType('multiturn'), { ...messages([]), shape: [1, 0, 2] }],
    ],
    ['a final system turn', 'INVALID_CONVERSATION', conversation(['user', MARKER], ['system', MARKER])],
    ['blank text', 'EMPTY_CONTENT', [modality('text'), text(' \n\t\u00a0')]],
    ['empty text', 'EMPTY_CONTENT', [modality('text'), text('')]],
    ['a blank response', 'EMPTY_CONTENT', [requestType('response'), column('RESPONSE_TEXT', [' '])]],
    [
      'a blank prompt to a response',
      'EMPTY_CONTENT',
      [requestType('response'), column('RESPONSE_TEXT', [MARKER]), text(' ')],
    ],
    [
      'a blank transcript',
      'EMPTY_CONTENT',
      [modality('audio'), column('AUDIO', [base64('fLaC')]), text(' ')],
    ],
    ['a blank caption', 'EMPTY_CONTENT', [modality('image'), column('IMAGE', [base64('x')]), text('\n')]],
    [
      'a caption over the window',
      'SEQUENCE_OVERFLOW',
      [modality('image'), column('IMAGE', [base64('x')]), text(`${MARKER} `.repeat(30))],
    ],
    ['a text over the window', 'SEQUENCE_OVERFLOW', [modality('text'), text(`${MARKER} `.repeat(30))]],
    [
      'a conversation over the window',
      'SEQUENCE_OVERFLOW',
      conversation(['user', MARKER.repeat(11)], ['assistant', MARKER.repeat(11)]),
    ],
    ['a REQUEST_TYPE that is none', 'GUARD_REJECTED', [requestType(MARKER), text(MARKER)]],
    ['a MODALITY that is none', 'GUARD_REJECTED', [modality(MARKER), text(MARKER)]],
    [
      'a MODALITY that the type does not take',
      'GUARD_REJECTED',
      [requestType('response'), modality('image'), column('RESPONSE_TEXT', [MARKER])],
    ],
    ['bad base64', 'GUARD_REJECTED', [modality('image'), column('IMAGE', [`!${MARKER}!`])]],
    ['base64 with a line break', 'GUARD_REJECTED', [modality('image'), column('IMAGE', ['YWJj\nYWJj'])]],
    [
      'more base64 than is taken',
      'GUARD_REJECTED',
      [modality('image'), column('IMAGE', ['YWJj'.repeat(16 * 1024 * 1024 + 1)])],
    ],
    ['a text that is not UTF-8', 'GUARD_REJECTED', [modality('text'), notUtf8('TEXT')]],
    [
      'rows of version and of other types',
      'GUARD_REJECTED',
      [
        column('REQUEST_TYPE', ['version', 'prompt']),
        column('MODALITY', ['text', 'text']),
        column('TEXT', ['', 'a']),
      ],
    ],
  ];
  it.each(cases)('%s → %s (C-701, C-702, C-703, C-704)', async (_what, code, tensors) => {
    const error = await refusal({ tensors });
    expect(error.code).toBe(status.INVALID_ARGUMENT);
    expect(error.details).toMatch(new RegExp(`^\\[request id: q7\\] ${code}: `));
  });

  it('takes a text that just fits the window (C-706, C-813)', async () => {
    const reply = await client.infer({ tensors: [modality('text'), text('a'.repeat(200))] });
    expect(output(reply, 'SCORE')).toHaveLength(1);
  });

  it('refuses a batch for one bad row, and no other request', async () => {
    const [bad, good] = await Promise.allSettled([
      client.infer({ tensors: promptInputs(['a', ' ', 'b']) }),
      client.infer({ tensors: promptInputs(['a', 'b']) }),
    ]);
    expect(bad).toMatchObject({ status: 'rejected', reason: { code: status.INVALID_ARGUMENT } });
    expect(good.status).toBe('fulfilled');
  });
});

describe('what the protocol refuses', () => {
  const good = promptInputs([MARKER]);
  const [, , textInput] = good as [TestTensor, TestTensor, TestTensor];
  const typedInput = { name: 'TEXT', datatype: 'BYTES', shape: [1, 1] };
  const bytes = { bytes_contents: [Buffer.from('a')] };
  const cases: [what: string, request: TestRequest][] = [
    ['no input', {}],
    ['an unknown input', { tensors: [...good, column('PROMPT', ['a'])] }],
    ['a repeated input', { tensors: [...good, textInput] }],
    [
      'a repeated boolean input',
      { tensors: [...good, flags('CACHE_WRITE', [true]), flags('CACHE_WRITE', [true])] },
    ],
    ['an unknown output', { tensors: good, outputs: [{ name: 'RISK' }] }],
    ['another data type', { tensors: [{ ...textInput, datatype: 'FP32' }] }],
    ['a shape without batch dimension', { tensors: [{ ...textInput, shape: [1] }] }],
    ['a wide shape', { tensors: [{ ...textInput, shape: [1, 2] }] }],
    ['a negative shape', { tensors: [{ ...textInput, shape: [-1, 1] }] }],
    ['a batch of none', { tensors: [{ ...textInput, shape: [0, 1], raw: Buffer.alloc(0) }] }],
    [
      'inputs of different batch sizes',
      { tensors: [column('MODALITY', ['text', 'text']), column('TEXT', [MARKER])] },
    ],
    ['a batch that is too large', { tensors: promptInputs(Array<string>(9).fill('a')) }],
    ['fewer elements than the shape says', { tensors: [{ ...textInput, shape: [2, 1] }] }],
    ['broken framing', { tensors: [{ ...textInput, raw: textInput.raw.subarray(0, -1) }] }],
    [
      'a boolean that is none',
      { tensors: [...good, { ...flags('CACHE_WRITE', [true]), raw: Buffer.from([2]) }] },
    ],
    ['fewer raw contents than inputs', { tensors: good, raw_input_contents: [textInput.raw] }],
    [
      'raw and typed contents',
      {
        inputs: [{ ...typedInput, contents: bytes }],
        raw_input_contents: [textInput.raw],
      },
    ],
    ['typed contents of another type', { inputs: [{ ...typedInput, contents: { int_contents: [1] } }] }],
    ['a reserved parameter', { tensors: good, parameters: { triton_anything: { bool_param: true } } }],
    [
      'an output in shared memory',
      {
        tensors: good,
        outputs: [{ name: 'SCORE', parameters: { shared_memory_region: { string_param: 'region' } } }],
      },
    ],
    [
      'an output as classes',
      { tensors: good, outputs: [{ name: 'SCORE', parameters: { classification: { int64_param: 3 } } }] },
    ],
    [
      'an input in shared memory',
      {
        inputs: [
          {
            ...typedInput,
            parameters: { shared_memory_region: { string_param: 'region' } },
            contents: bytes,
          },
        ],
      },
    ],
  ];
  it.each(cases)('%s', async (_what, request) => {
    const error = await refusal(request);
    expect(error.code).toBe(status.INVALID_ARGUMENT);
    expect(error.details).toMatch(/^\[request id: q7\] /);
  });

  it.each([
    ['model', status.NOT_FOUND, /^Request for unknown model: 'other' is not found$/, { model_name: 'other' }],
    [
      'version',
      status.NOT_FOUND,
      /^Request for unknown model: 'guard' version 12 is not found$/,
      { model_version: '12' },
    ],
    [
      'version that is no number',
      status.INVALID_ARGUMENT,
      /^a model version is a whole number$/,
      { model_version: 'v1' },
    ],
  ])('another %s', async (_what, code, text, named) => {
    expect(await refusal({ ...named, tensors: good })).toMatchObject({
      code,
      details: expect.stringMatching(text) as string,
    });
  });

  it('says so when a request has no id', async () => {
    const error = await refusal({ id: '', tensors: [] });
    expect(error.details).toMatch(/^\[request id: <id_unknown>\] /);
  });

  it('cuts what it quotes of a request, which could be longer than a client can read', async () => {
    const long = '\u{1f600}x'.repeat(50_000);
    const shown = `${'\u{1f600}x'.repeat(32)}...`;
    const unknown = await refusal({ model_name: long, tensors: good });
    expect(unknown.details).toBe(`Request for unknown model: '${shown}' is not found`);
    const id = '\u{1f600}x'.repeat(1000);
    const { details } = await refusal({ id, tensors: good, parameters: { [`triton_${long}`]: {} } });
    expect(details).toContain(`[request id: ${shown}] parameter 'triton_`);
    const shape = Array.from({ length: 50_000 }, () => 1);
    const misshapen = await refusal({ id: 'x'.repeat(64), tensors: [{ ...good[0]!, shape }] });
    expect(misshapen.details).toContain(`[request id: ${'x'.repeat(64)}]`);
    expect(misshapen.details.length).toBeLessThan(300);
  });

  it('takes ids of at most 4096 characters', async () => {
    const { code, details } = await refusal({ id: 'x'.repeat(4097), tensors: good });
    expect(code).toBe(status.INVALID_ARGUMENT);
    expect(details).toBe('[request id: <id_unknown>] the request id has more than 4096 characters');
    await client.infer({ id: 'x'.repeat(4096), tensors: good });
  });

  it('takes the parameters that are allowed', async () => {
    await client.infer({
      tensors: good,
      parameters: {
        triton_enable_empty_final_response: { bool_param: true },
        priority: { uint64_param: 1 },
      },
    });
  });

  it('takes and gives messages over 4 MiB', async () => {
    const error = await refusal({ tensors: [modality('text'), text('a'.repeat(6 * 1024 * 1024))] });
    expect(error.details).toContain('SEQUENCE_OVERFLOW');
  });

  it('answers any nonsense with a refusal or a verdict, and goes on serving', async () => {
    const name = fc.constantFrom(
      'REQUEST_TYPE',
      'MODALITY',
      'TEXT',
      'IMAGE',
      'AUDIO',
      'MESSAGES',
      'CACHE_WRITE',
      'X',
    );
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
      { numRuns: 300 },
    );
    expect(await client.call('ServerReady', {})).toEqual({ ready: true });
  });
});
