import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import type { InferResponse } from '../../../../src/guard/tensors/protocol.ts';
import { loadService } from '../../../../src/guard/tensors/service.ts';
import {
  decodeStreamRequest,
  encodeStreamRequest,
  isStreamRequest,
  decodeStreamVerdict,
  encodeStreamVerdict,
} from '../../../../src/guard/tensors/stream/stream-tensors.ts';
import {
  InvalidStreamMessage,
  type StreamRequest,
} from '../../../../src/guard/tensors/stream/stream-messages.ts';
import { decodeInferRequest, decodeInferResponse } from '../../../../src/guard/tensors/service.ts';
import { streamRequests, streamVerdicts } from './messages.ts';

const { requestSerialize, responseSerialize } = loadService()['ModelInfer']!;

function received(message: object): ReturnType<typeof decodeInferRequest> {
  return decodeInferRequest(requestSerialize(message));
}

function reply(message: object): InferResponse {
  return decodeInferResponse(responseSerialize(message));
}

/** Well-formed text: a tensor has no half characters. */
function wellFormed(text: string | null): string | null {
  return text === null ? null : Buffer.from(text).toString();
}

describe('a message of ModelStreamInfer', () => {
  it('is read as it was written (C-223)', () => {
    fc.assert(
      fc.property(streamRequests, fc.boolean(), (request, batched) => {
        const message = received(encodeStreamRequest(request, { batched }));
        expect(isStreamRequest(message)).toBe(true);
        expect(decodeStreamRequest(message)).toEqual({
          ...request,
          streamId: wellFormed(request.streamId),
          prompt: wellFormed(request.prompt),
          chunk: wellFormed(request.chunk),
        });
      }),
    );
    fc.assert(
      fc.property(streamVerdicts, fc.boolean(), (verdict, batched) => {
        expect(decodeStreamVerdict(reply(encodeStreamVerdict(verdict, { batched })))).toEqual(verdict);
      }),
    );
  });

  const request: StreamRequest = {
    ...{ streamId: 's', seq: 7, prompt: 'p', chunk: 'c', endOfStream: true },
    cadence: { unit: 'chunks', every: 4 },
  };

  it('without an input of streams is ordinary inference', () => {
    const text = { name: 'TEXT', datatype: 'BYTES', shape: [1, 1] };
    expect(isStreamRequest(received({ inputs: [text] }))).toBe(false);
    expect(isStreamRequest(received({ inputs: [text, { ...text, name: 'TEXT_CHUNK' }] }))).toBe(true);
  });

  const good = encodeStreamRequest(request, { batched: true });
  /** The good message with one input and its contents changed. */
  const changed = (name: string, change: object, raw?: Buffer): object => ({
    ...good,
    inputs: good.inputs.map((input) => (input.name === name ? { ...input, ...change } : input)),
    raw_input_contents: good.raw_input_contents.map((content, index) =>
      good.inputs[index]!.name === name ? (raw ?? content) : content,
    ),
  });
  const without = (name: string): object => ({
    ...good,
    inputs: good.inputs.filter((input) => input.name !== name),
    raw_input_contents: good.raw_input_contents.filter((_, index) => good.inputs[index]!.name !== name),
  });
  const cases: [what: string, message: object][] = [
    ['no SEQ', without('SEQ')],
    ['a SEQ of four bytes', changed('SEQ', {}, Buffer.alloc(4))],
    ['a SEQ of another data type', changed('SEQ', { datatype: 'INT32' })],
    ['another shape', changed('SEQ', { shape: [1, 2] })],
    ['three dimensions', changed('TEXT_CHUNK', { shape: [1, 1, 1] })],
    ['no dimension', changed('TEXT_CHUNK', { shape: [] })],
    ['a chunk that is not UTF-8', changed('TEXT_CHUNK', {}, Buffer.from([1, 0, 0, 0, 0xff]))],
    ['a chunk cut off', changed('TEXT_CHUNK', {}, Buffer.from([2, 0, 0, 0, 0x61]))],
    ['two chunks', changed('TEXT_CHUNK', {}, Buffer.alloc(8))],
    ['END_OF_STREAM of 2', changed('END_OF_STREAM', {}, Buffer.from([2]))],
    ['another input', changed('STREAM_ID', { name: 'IMAGE' })],
    ['an input twice', changed('TEXT', { name: 'TEXT_CHUNK' })],
    ['fewer contents than inputs', { ...good, raw_input_contents: good.raw_input_contents.slice(1) }],
    ['no contents', { ...good, raw_input_contents: [] }],
    ['a cadence in words', { ...good, parameters: { cadence_ms: { string_param: '50' } } }],
    ['a cadence without a value', { ...good, parameters: { cadence_ms: { double_param: 50 } } }],
    ['a misspelt cadence', { ...good, parameters: { cadenceChunks: { int64_param: 5 } } }],
  ];
  test.each(cases)('with %s is refused', (_what, message) => {
    expect(() => decodeStreamRequest(received(message))).toThrow(InvalidStreamMessage);
  });
});

describe('a verdict in tensors', () => {
  const verdict = {
    processedUntilSeq: 3,
    flagged: true,
    needsCaution: false,
    score: 0.9,
    latencyMs: 1,
    isFinal: true,
  };
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

  const cases: [what: string, message: object][] = [
    ['no IS_FINAL', changed('IS_FINAL', { name: 'OTHER' })],
    [
      'PROCESSED_UNTIL_SEQ of -2',
      changed('PROCESSED_UNTIL_SEQ', {}, Buffer.concat([Buffer.from([0xfe]), Buffer.alloc(7, 0xff)])),
    ],
    ['SCORE not a number', changed('SCORE', {}, Buffer.from([0, 0, 0xc0, 0x7f]))],
    ['an infinite latency', changed('LATENCY_MS', {}, Buffer.from([0, 0, 0x80, 0x7f]))],
    ['FLAGGED of another data type', changed('FLAGGED', { datatype: 'INT32' })],
    ['two elements', changed('FLAGGED', { shape: [2] }, Buffer.from([0, 1]))],
    ['an output twice', changed('FLAGGED', { name: 'IS_FINAL' })],
    ['fewer contents than outputs', { ...good, raw_output_contents: good.raw_output_contents.slice(1) }],
  ];
  test.each(cases)('with %s is refused', (_what, message) => {
    expect(() => decodeStreamVerdict(reply(message))).toThrow(InvalidStreamMessage);
  });
});
