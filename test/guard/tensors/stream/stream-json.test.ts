import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import {
  readStreamReply,
  readStreamRequest,
  writeStreamError,
  writeStreamRequest,
  writeStreamVerdict,
} from '../../../../src/guard/tensors/stream/stream-json.ts';
import {
  InvalidStreamMessage,
  MAX_STREAM_TEXT_BYTES,
} from '../../../../src/guard/tensors/stream/stream-messages.ts';
import { closeCodeOf, statusOfCloseCode } from '../../../../src/guard/tensors/stream/stream-status.ts';
import { streamRequests, streamVerdicts } from './messages.ts';

describe('a message over a WebSocket', () => {
  it('is read as it was written', () => {
    fc.assert(
      fc.property(streamRequests, (request) => {
        expect(readStreamRequest(writeStreamRequest(request))).toEqual({
          ...request,
          chunk: request.chunk ?? '',
        });
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
      ...{ stream_id: 's', seq: 3, prompt: 'p', response_chunk: 'c', end_of_stream: false, cadence_ms: 50 },
    });
    const last = { streamId: '', seq: 4, prompt: null, chunk: null, endOfStream: true, cadence: null };
    expect(JSON.parse(writeStreamRequest(last))).toEqual({ seq: 4, response_chunk: '', end_of_stream: true });
  });

  it('may have other fields, and null for one that is missing', () => {
    expect(readStreamRequest('{"seq": 0, "prompt": null, "other": {"a": [1]}, "cadence_ms": null}')).toEqual({
      ...{ streamId: '', seq: 0, prompt: null, chunk: null, endOfStream: false, cadence: null },
    });
  });

  it('keeps half of a character that two chunks share', () => {
    const [high, low] = ['\ud83d', '\ude00'];
    const chunks = [high, low].map((chunk, seq) =>
      readStreamRequest(JSON.stringify({ seq, response_chunk: chunk })),
    );
    expect(chunks.map(({ chunk }) => chunk).join('')).toBe('😀');
  });

  const requests: [what: string, json: string][] = [
    ['no JSON', '{'],
    ['an array', '[]'],
    ['a misspelt cadence', '{"seq": 0, "cadence_chunk": 5}'],
    ['a cadence in camel case', '{"seq": 0, "cadenceMs": 50}'],
    ['null', 'null'],
    ['no seq', '{"response_chunk": "a"}'],
    ['a negative seq', '{"seq": -1}'],
    ['a fraction as seq', '{"seq": 1.5}'],
    ['a seq beyond 2^53', '{"seq": 9007199254740992}'],
    ['a seq in quotes', '{"seq": "1"}'],
    ['a chunk that is a number', '{"seq": 1, "response_chunk": 1}'],
    [
      'a chunk that is too long',
      JSON.stringify({ seq: 1, response_chunk: 'x'.repeat(MAX_STREAM_TEXT_BYTES + 1) }),
    ],
    [
      'a prompt that is too long',
      JSON.stringify({ seq: 1, prompt: 'é'.repeat(MAX_STREAM_TEXT_BYTES / 2 + 1) }),
    ],
    ['a stream id that is too long', JSON.stringify({ seq: 1, stream_id: 'x'.repeat(257) })],
    ['end_of_stream that is a string', '{"seq": 1, "end_of_stream": "true"}'],
    ['two cadences', '{"seq": 1, "cadence_ms": 10, "cadence_chunks": 1}'],
    ['a cadence of 0', '{"seq": 1, "cadence_ms": 0}'],
    ['a cadence that is a string', '{"seq": 1, "cadence_chunks": "1"}'],
  ];
  test.each(requests)('with %s is refused (C-426)', (_what, json) => {
    expect(() => readStreamRequest(json)).toThrow(InvalidStreamMessage);
  });

  const verdict = {
    ...{ processed_until_seq: 0, flagged: false, needs_caution: false, latency_ms: 1, is_final: false },
  };
  const replies: [what: string, change: object][] = [
    ['processed_until_seq below -1', { processed_until_seq: -2 }],
    ['no flagged', { flagged: undefined }],
    ['needs_caution that is a number', { needs_caution: 1 }],
    ['a score above 1', { score: 1.1 }],
    ['a score that is a string', { score: '0.1' }],
    ['a negative latency', { latency_ms: -1 }],
    ['no is_final', { is_final: null }],
    ['an error that is a string', { error: 'x', is_final: undefined }],
  ];
  test.each(replies)('from a server with %s is refused', (_what, change) => {
    expect(() => readStreamReply(JSON.stringify({ ...verdict, ...change }))).toThrow(InvalidStreamMessage);
  });

  it('is an error or none, whatever it holds', () => {
    fc.assert(
      fc.property(
        fc.json(),
        fc.dictionary(fc.constantFrom(...Object.keys(verdict), 'seq', 'error'), fc.jsonValue()),
        (json, fields) => {
          for (const text of [json, JSON.stringify(fields)]) {
            for (const read of [readStreamRequest, readStreamReply]) {
              try {
                read(text);
              } catch (error) {
                expect(error).toBeInstanceOf(InvalidStreamMessage);
              }
            }
          }
        },
      ),
    );
  });
});

describe('an error over a WebSocket', () => {
  it('names a gRPC status (C-717)', () => {
    expect(readStreamReply(writeStreamError('RESOURCE_EXHAUSTED', 'too many streams'))).toEqual({
      verdict: null,
      error: { status: 'RESOURCE_EXHAUSTED', text: 'too many streams' },
    });
  });

  it('of another server may be of any form', () => {
    const { error } = readStreamReply(JSON.stringify({ error: { code: 17, message: 'x'.repeat(5000) } }));
    expect(error).toEqual({ status: 'UNKNOWN', text: 'x'.repeat(1024) });
  });

  it('has a close code of its own (C-717)', () => {
    expect(closeCodeOf('INVALID_ARGUMENT')).toBe(4003);
    expect(closeCodeOf('UNAVAILABLE')).toBe(4014);
    expect(statusOfCloseCode(4009)).toBe('FAILED_PRECONDITION');
    expect(statusOfCloseCode(1000)).toBeNull();
    expect(statusOfCloseCode(4017)).toBeNull();
  });
});
