import { status } from '@grpc/grpc-js';
import { describe, expect, test } from 'vitest';
import { classifyGrpc, classifyHttp, retryAfterMs } from '../../../src/guard/faults/classify.ts';
import { connectionFault } from '../../../src/guard/faults/fault-table.ts';
import type { Fault } from '../../../src/guard/protocol/call-error.ts';

/** A fault in one line: its kind, what it names, and a flag if it is set. */
function line(fault: Fault): string {
  switch (fault.kind) {
    case 'refused':
      return `refused ${fault.code}${fault.named ? ', named' : ''}`;
    case 'attempt':
      return `attempt ${fault.code}`;
    case 'endpoint':
      return `endpoint ${fault.reason}${fault.reached ? ', reached' : ''}`;
    case 'barred':
      return `barred ${fault.reason}${fault.fatal ? ', fatal' : ''}`;
    case 'rate':
      return `rate ${fault.retryAfterMs}`;
    default:
      return fault.kind;
  }
}

describe('a gRPC status', () => {
  const noConnection = (cause: string): string => `No connection established. Last error: ${cause}`;

  test.each<[code: keyof typeof status, details: string, fault: string]>([
    ['NOT_FOUND', "Request for unknown model: 'guard' is not found", 'barred unknown model'],
    ['UNAVAILABLE', "[request id: 1] 'guard' version 1 is not at ready state", 'endpoint not ready'],
    ['UNAVAILABLE', '[request id: 1] Exceeds maximum queue size', 'overload'],
    ['UNAVAILABLE', 'Server is stopping, scheduler for model has stopped', 'endpoint shutting down'],
    ['UNAVAILABLE', noConnection('connect ECONNREFUSED'), 'endpoint no connection'],
    ['UNAVAILABLE', noConnection('Error: self-signed certificate'), 'endpoint certificate not trusted'],
    ['UNAVAILABLE', noConnection('SSL: alert certificate required'), 'endpoint certificate refused'],
    ['UNAVAILABLE', 'Connection dropped', 'endpoint connection lost, reached'],
    ['UNAVAILABLE', 'anything else', 'attempt GUARD_UNAVAILABLE'],
    ['INTERNAL', 'Stub process x is not healthy.', 'endpoint model process unhealthy, reached'],
    ['INTERNAL', "Failed to process the request(s) for model instance 'guard_0'", 'execution'],
    ['INTERNAL', 'out of memory', 'attempt GUARD_INTERNAL'],
    ['INTERNAL', '[request id: <id_unknown>] SEQUENCE_OVERFLOW: 9', 'refused SEQUENCE_OVERFLOW, named'],
    ['INVALID_ARGUMENT', '{"error":{"code":"EMPTY_CONTENT"}}', 'refused EMPTY_CONTENT, named'],
    ['INVALID_ARGUMENT', 'the text says EMPTY_CONTENT', 'refused GUARD_REJECTED'],
    [
      'UNKNOWN',
      "Unexpected <class 'mlserver.errors.InferenceError'>: SEQUENCE_OVERFLOW: 9",
      'refused SEQUENCE_OVERFLOW, named',
    ],
    ['INVALID_ARGUMENT', 'not a class: SEQUENCE_OVERFLOW: x', 'refused GUARD_REJECTED'],
    // A message about a request with content may quote it.
    ['INVALID_ARGUMENT', 'Model guard not found', 'refused GUARD_REJECTED'],
    ['RESOURCE_EXHAUSTED', 'SERVER: Received message larger than max (5 vs. 4)', 'too-large'],
    ['DEADLINE_EXCEEDED', '', 'attempt TIMEOUT'],
    ['UNAUTHENTICATED', '', 'barred not authorised, fatal'],
  ])('%s %s: %s', (code, details, fault) => {
    expect(line(classifyGrpc(status[code], details))).toBe(fault);
  });

  test.each([
    [status.UNAVAILABLE, 'no connection established alert '],
    [status.INTERNAL, 'stub process '],
    [status.RESOURCE_EXHAUSTED, 'message '],
  ])('%i with 10 MB of %s takes no time', (code, part) => {
    const details = part.repeat(1e7 / part.length);
    const begunAt = performance.now();
    for (let count = 0; count < 100; count++) classifyGrpc(code, details);
    expect(performance.now() - begunAt).toBeLessThan(5000);
  });
});

describe('an HTTP status', () => {
  const error = (code: string, message = ''): string => JSON.stringify({ error: { code, message } });
  const text = (message: string): string => JSON.stringify({ error: message });

  test.each<[status: number, body: string, about: 'text' | 'image' | 'audio', fault: string]>([
    [400, error('EMPTY_CONTENT', 'the text is blank'), 'text', 'refused EMPTY_CONTENT, named'],
    [422, error('bad_request', 'Sequence overflow: 9000'), 'text', 'refused SEQUENCE_OVERFLOW, named'],
    [400, '{"detail":"Missing modality payload"}', 'text', 'refused MISSING_PAYLOAD, named'],
    [400, 'you sent EMPTY_CONTENT', 'text', 'refused GUARD_REJECTED'],
    [413, '', 'image', 'too-large'],
    [413, error('SEQUENCE_OVERFLOW'), 'text', 'refused SEQUENCE_OVERFLOW, named'],
    [415, '', 'audio', 'refused UNSUPPORTED_AUDIO_TYPE'],
    [415, '', 'image', 'refused UNSUPPORTED_TYPE'],
    [403, error('EMPTY_CONTENT'), 'text', 'barred not authorised, fatal'],
    [404, '', 'image', 'barred unknown path'],
    [302, '', 'text', 'barred redirects elsewhere'],
    [429, '', 'text', 'rate 2000'],
    [500, 'oops', 'text', 'attempt GUARD_INTERNAL'],
    [504, '', 'text', 'attempt TIMEOUT'],
  ])('of REST: %i %s for %s: %s (C-718)', (code, body, about, fault) => {
    const headers = { 'retry-after': '2' };
    expect(line(classifyHttp({ status: code, headers, body: Buffer.from(body), about }))).toBe(fault);
  });

  test.each<[status: number, body: string, fault: string]>([
    [400, text('[request id: 7] EMPTY_CONTENT: the text is blank'), 'refused EMPTY_CONTENT, named'],
    [500, text('INVALID_ROLE: bot'), 'refused INVALID_ROLE, named'],
    [403, text('EMPTY_CONTENT'), 'barred not authorised, fatal'],
    [404, text('Request for unknown model'), 'barred unknown model'],
    [413, '', 'too-large'],
    [503, text('[request id: <id_unknown>] Exceeds maximum queue size'), 'overload'],
    [503, text("'guard' version 1 is not at ready state"), 'endpoint not ready'],
    [503, '', 'attempt GUARD_UNAVAILABLE'],
    [500, text("Stub process 'guard_0' is not healthy."), 'endpoint model process unhealthy, reached'],
    [500, text('Failed to process the request(s) for model instance'), 'execution'],
  ])('of KServe: %i %s: %s', (code, body, fault) => {
    const failure = { status: code, headers: {}, body: Buffer.from(body), about: 'model' } as const;
    expect(line(classifyHttp(failure))).toBe(fault);
  });

  test('Retry-After is seconds or a date, and honored up to a day', () => {
    const now = Date.parse('2026-11-21T02:00:00Z');
    expect(retryAfterMs('3', now)).toBe(3000);
    expect(retryAfterMs(' 0 ', now)).toBe(0);
    expect(retryAfterMs('Sat, 21 Nov 2026 02:00:05 GMT', now)).toBe(5000);
    expect(retryAfterMs('Sat, 21 Nov 2026 01:00:00 GMT', now)).toBe(0);
    expect(retryAfterMs('99999999999', now)).toBe(24 * 3_600_000);
    for (const nothing of [undefined, '', 'soon', '-1x']) expect(retryAfterMs(nothing, now)).toBeNull();
  });
});

test.each([
  ['ECONNREFUSED', 'endpoint no connection'],
  ['ECONNRESET', 'endpoint connection lost, reached'],
  ['HPE_INVALID_CONSTANT', 'refused INVALID_REPLY'],
  ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'endpoint certificate refused'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'endpoint certificate not trusted'],
])('a connection that ends with %s: %s', (code, fault) => {
  expect(line(connectionFault(code))).toBe(fault);
});
