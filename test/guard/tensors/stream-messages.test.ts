import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { decodeInferRequest, decodeInferResponse, loadService } from '../../../src/guard/tensors/service.ts';
import {
  readStreamReply,
  readStreamRequest,
  writeStreamError,
  writeStreamRequest,
  writeStreamVerdict,
} from '../../../src/guard/tensors/stream/stream-json.ts';
import {
  InvalidStreamMessage,
  MAX_STREAM_TEXT_BYTES,
  type StreamRequest,
  type StreamVerdict,
} from '../../../src/guard/tensors/stream/stream-messages.ts';
import { closeCodeOf, statusOfCloseCode } from '../../../src/guard/tensors/stream/stream-status.ts';
import { message } from '../../helpers/guards/moderation-streams.ts';
import { verdictOn } from '../../helpers/guards/scripted-streams.ts';
import {
  decodeStreamRequest,
  encodeStreamRequest,
  isStreamRequest,
  decodeStreamVerdict,
  encodeStreamVerdict,
} from '../../../src/guard/tensors/stream/stream-tensors.ts';

const text = fc.string({ unit: 'binary', maxLength: 40 });

const unit = fc.constantFrom<('chunks' | 'ms')[]>('chunks', 'ms');
const every = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });

const streamRequests: fc.Arbitrary<StreamRequest> = fc.record({
  streamId: fc.string({ unit: 'binary', maxLength: 20 }),
  seq: fc.maxSafeNat(),
  prompt: fc.option(text),
  chunk: fc.option(text),
  endOfStream: fc.boolean(),
  cadence: fc.option(fc.record({ unit, every })),
});

/** With scores that are short decimals of FP32 values, as they are read from tensors. */
const streamVerdicts: fc.Arbitrary<StreamVerdict> = fc.record({
  processedUntilSeq: fc.oneof(fc.constant(-1), fc.maxSafeNat()),
  flagged: fc.boolean(),
  needsCaution: fc.boolean(),
  score: fc.option(fc.integer({ min: 0, max: 1000 }).map((thousandths) => thousandths / 1000)),
  latencyMs: fc.integer({ min: 0, max: 100_000 }).map((quarters) => quarters / 4),
  isFinal: fc.boolean(),
});

const { requestSerialize, responseSerialize } = loadService()['ModelInfer']!;

const received = (message: object) => decodeInferRequest(requestSerialize(message));
const reply = (message: object) => decodeInferResponse(responseSerialize(message));

/** A tensor has no half characters. */
const wellFormed = (text: string): string => Buffer.from(text).toString();

describe('a message of ModelStreamInfer', () => {
  it('is read as it was written (C-223)', () => {
    fc.assert(
      fc.property(streamRequests, fc.boolean(), (request, batched) => {
        const message = received(encodeStreamRequest(request, { batched }));
        expect(isStreamRequest(message)).toBe(true);
        expect(decodeStreamRequest(message)).toEqual({
          ...request,
          streamId: wellFormed(request.streamId),
          prompt: request.prompt && wellFormed(request.prompt),
          chunk: request.chunk && wellFormed(request.chunk),
        });
      }),
    );
    fc.assert(
      fc.property(streamVerdicts, fc.boolean(), (verdict, batched) => {
        expect(decodeStreamVerdict(reply(encodeStreamVerdict(verdict, { batched })))).toEqual(verdict);
      }),
    );
  });

  const good = encodeStreamRequest(message({ prompt: 'p', chunk: 'c' }), { batched: true });
  /** The good message with one input and its contents changed. */
  const changed = (name: string, change: object, raw?: Buffer): object => ({
    ...good,
    inputs: good.inputs.map((input) => (input.name === name ? { ...input, ...change } : input)),
    raw_input_contents: good.raw_input_contents.map((content, index) =>
      good.inputs[index]!.name === name ? (raw ?? content) : content,
    ),
  });
  test.each<[what: string, message: object]>([
    ['no SEQ', changed('SEQ', { name: 'IMAGE' })],
    ['a SEQ of four bytes', changed('SEQ', {}, Buffer.alloc(4))],
    ['another shape', changed('SEQ', { shape: [1, 2] })],
    ['a chunk that is not UTF-8', changed('TEXT_CHUNK', {}, Buffer.from([1, 0, 0, 0, 0xff]))],
    ['END_OF_STREAM of 2', changed('END_OF_STREAM', {}, Buffer.from([2]))],
    ['an input twice', changed('TEXT', { name: 'TEXT_CHUNK' })],
    ['no contents', { ...good, raw_input_contents: [] }],
    ['a misspelt cadence', { ...good, parameters: { cadenceChunks: { int64_param: 5 } } }],
  ])('with %s is refused', (_what, message) => {
    expect(() => decodeStreamRequest(received(message))).toThrow(InvalidStreamMessage);
  });
});

describe('a verdict in tensors', () => {
  const verdict = verdictOn([message({ seq: 3 })], { flagged: true, score: 0.9, isFinal: true });
  const good = encodeStreamVerdict(verdict, { batched: false });
  const changed = (name: string, change: object, raw?: Buffer): object => ({
    outputs: good.outputs.map((output) => (output.name === name ? { ...output, ...change } : output)),
    raw_output_contents: good.raw_output_contents.map((content, index) =>
      good.outputs[index]!.name === name ? (raw ?? content) : content,
    ),
  });

  it('may stand beside other outputs (C-226, C-422)', () => {
    const more = {
      outputs: [...good.outputs, { name: 'OTHER', datatype: 'FP32', shape: [2] }],
      raw_output_contents: [...good.raw_output_contents, Buffer.alloc(8)],
    };
    expect(decodeStreamVerdict(reply(more))).toEqual(verdict);
  });

  const below = Buffer.from('00ffffffffffffff', 'hex');
  test.each<[what: string, message: object]>([
    ['no IS_FINAL', changed('IS_FINAL', { name: 'OTHER' })],
    ['PROCESSED_UNTIL_SEQ of -256', changed('PROCESSED_UNTIL_SEQ', {}, below)],
    ['SCORE not a number', changed('SCORE', {}, Buffer.from([0, 0, 0xc0, 0x7f]))],
    ['an output twice', changed('FLAGGED', { name: 'IS_FINAL' })],
  ])('with %s is refused', (_what, message) => {
    expect(() => decodeStreamVerdict(reply(message))).toThrow(InvalidStreamMessage);
  });
});

describe('a message over a WebSocket', () => {
  it('is read as it was written', () => {
    fc.assert(
      fc.property(streamRequests, (request) => {
        const read = readStreamRequest(writeStreamRequest(request));
        expect(read).toEqual({ ...request, chunk: request.chunk ?? '' });
      }),
    );
    fc.assert(
      fc.property(streamVerdicts, (verdict) => {
        expect(readStreamReply(writeStreamVerdict(verdict))).toEqual({ verdict, error: null });
      }),
    );
  });

  it('has the fields of the contract (C-226, C-426)', () => {
    const first = { streamId: 's', seq: 3, prompt: 'p', chunk: 'c', endOfStream: false } as const;
    expect(JSON.parse(writeStreamRequest({ ...first, cadence: { unit: 'ms', every: 50 } }))).toEqual({
      stream_id: 's',
      seq: 3,
      prompt: 'p',
      response_chunk: 'c',
      end_of_stream: false,
      cadence_ms: 50,
    });
    const last = { streamId: '', seq: 4, prompt: null, chunk: null, endOfStream: true, cadence: null };
    expect(JSON.parse(writeStreamRequest(last))).toEqual({ seq: 4, response_chunk: '', end_of_stream: true });
  });

  it('keeps half of a character that two chunks share', () => {
    const chunks = ['\ud83d', '\ude00'].map((chunk) => JSON.stringify({ seq: 0, response_chunk: chunk }));
    expect(chunks.map((json) => readStreamRequest(json).chunk).join('')).toBe('😀');
  });

  test.each<[what: string, json: string]>([
    ['no JSON', '{'],
    ['a misspelt cadence', '{"seq": 0, "cadence_chunk": 5}'],
    ['a negative seq', '{"seq": -1}'],
    ['a seq in quotes', '{"seq": "1"}'],
    ['a chunk that is too long', `{"seq": 1, "response_chunk": "${'x'.repeat(MAX_STREAM_TEXT_BYTES + 1)}"}`],
    ['a stream id that is too long', JSON.stringify({ seq: 1, stream_id: 'x'.repeat(257) })],
    ['two cadences', '{"seq": 1, "cadence_ms": 10, "cadence_chunks": 1}'],
    ['a cadence of 0', '{"seq": 1, "cadence_ms": 0}'],
  ])('with %s is refused (C-426)', (_what, json) => {
    expect(() => readStreamRequest(json)).toThrow(InvalidStreamMessage);
  });

  const verdict = JSON.parse(writeStreamVerdict(verdictOn([]))) as object;
  test.each<[what: string, change: object]>([
    ['processed_until_seq below -1', { processed_until_seq: -2 }],
    ['a score above 1', { score: 1.1 }],
    ['a negative latency', { latency_ms: -1 }],
    ['an error that is a string', { error: 'x', is_final: undefined }],
  ])('from a server with %s is refused', (_what, change) => {
    expect(() => readStreamReply(JSON.stringify({ ...verdict, ...change }))).toThrow(InvalidStreamMessage);
  });

  it('is an error or none, whatever it holds', () => {
    const names = fc.constantFrom(...Object.keys(verdict), 'seq', 'error');
    const fields = fc.dictionary(names, fc.jsonValue()).map((all) => JSON.stringify(all));
    const json = fc.oneof(fc.json(), fields);
    fc.assert(
      fc.property(json, (text) => {
        for (const read of [readStreamRequest, readStreamReply]) {
          try {
            read(text);
          } catch (error) {
            expect(error).toBeInstanceOf(InvalidStreamMessage);
          }
        }
      }),
      { numRuns: 200 },
    );
  });
});

it('an error over a WebSocket names a gRPC status, and has a close code of its own (C-717)', () => {
  expect(readStreamReply(writeStreamError('RESOURCE_EXHAUSTED', 'too many streams'))).toEqual({
    verdict: null,
    error: { status: 'RESOURCE_EXHAUSTED', text: 'too many streams' },
  });
  expect(closeCodeOf('UNAVAILABLE')).toBe(4014);
  expect(statusOfCloseCode(4009)).toBe('FAILED_PRECONDITION');
  expect(statusOfCloseCode(1000)).toBeNull();
});
