import { status } from '@grpc/grpc-js';
import { expect, test } from 'vitest';
import type { Fault } from '../../../src/guard/protocol/call-error.ts';
import { classifyGrpc } from '../../../src/guard/faults/classify.ts';

const rows: [code: status, details: string, fault: Fault][] = [
  [status.NOT_FOUND, "Request for unknown model: 'guard' is not found", barred('unknown model')],
  [status.INVALID_ARGUMENT, 'unexpected inference input', refused('GUARD_REJECTED', false)],
  [
    status.UNAVAILABLE,
    "[request id: 1] 'guard' version 1 is not at ready state",
    endpoint('not ready', false),
  ],
  [status.UNAVAILABLE, 'Server not ready', endpoint('not ready', false)],
  [status.UNAVAILABLE, '[request id: 1] Exceeds maximum queue size', { kind: 'overload' }],
  [status.UNAVAILABLE, 'Request timeout expired', { kind: 'overload' }],
  [
    status.UNAVAILABLE,
    'GRPC server is shutting down and has stopped accepting new requests.',
    endpoint('shutting down', false),
  ],
  [
    status.UNAVAILABLE,
    'Server is stopping, scheduler for model has stopped',
    endpoint('shutting down', false),
  ],
  [status.UNAVAILABLE, 'Server exiting', endpoint('shutting down', false)],
  [
    status.UNAVAILABLE,
    'No connection established. Last error: connect ECONNREFUSED',
    endpoint('no connection', false),
  ],
  ...[
    'Error: self-signed certificate',
    'Error: unable to verify the first certificate',
    'Error: unable to get local issuer certificate',
    'Error: certificate has expired',
    "Error [ERR_TLS_CERT_ALTNAME_INVALID]: Hostname/IP does not match certificate's altnames",
  ].map((cause): [status, string, Fault] => [
    status.UNAVAILABLE,
    `No connection established. Last error: ${cause}. Resolution note: `,
    endpoint('certificate not trusted', false),
  ]),
  ...['tlsv13 alert certificate required', 'tlsv1 alert unknown ca'].map((alert): [status, string, Fault] => [
    status.UNAVAILABLE,
    `No connection established. Last error: SSL routines:ssl3_read_bytes:${alert}:SSL alert number 1`,
    endpoint('certificate refused', false),
  ]),
  [
    status.UNAVAILABLE,
    'No connection established. Last error: SSL routines:ssl3_read_bytes:tlsv1 alert protocol version:',
    endpoint('no connection', false),
  ],
  [
    status.UNAVAILABLE,
    'Name resolution failed for target dns:nowhere:8001',
    endpoint('no connection', false),
  ],
  [status.UNAVAILABLE, 'Connection dropped', endpoint('connection lost', true)],
  [status.UNAVAILABLE, 'read ECONNRESET', endpoint('connection lost', true)],
  [status.UNAVAILABLE, 'anything else', { kind: 'attempt', code: 'GUARD_UNAVAILABLE' }],
  [
    status.INTERNAL,
    'Received RST_STREAM with code 2 triggered by internal client error: Too many CONTINUATION frames',
    endpoint('connection lost', true),
  ],
  [
    status.INTERNAL,
    'Received RST_STREAM with code 2 triggered by internal client error: write EPIPE',
    endpoint('connection lost', true),
  ],
  [
    status.INTERNAL,
    'Failed to process the request(s) for model instance, message: Stub process x is not healthy.',
    endpoint('model process unhealthy', true),
  ],
  [status.INTERNAL, "Failed to process the request(s) for model instance 'guard_0'", { kind: 'execution' }],
  [status.INTERNAL, 'out of memory', { kind: 'attempt', code: 'GUARD_INTERNAL' }],
  [
    status.INTERNAL,
    '[request id: <id_unknown>] SEQUENCE_OVERFLOW: too long',
    refused('SEQUENCE_OVERFLOW', true),
  ],
  [
    status.INVALID_ARGUMENT,
    `[request id: ${'x'.repeat(1000)}] EMPTY_CONTENT: TEXT is blank`,
    refused('EMPTY_CONTENT', true),
  ],
  [status.INVALID_ARGUMENT, 'Unsupported audio type', refused('UNSUPPORTED_AUDIO_TYPE', true)],
  [status.INVALID_ARGUMENT, '{"error":{"code":"EMPTY_CONTENT"}}', refused('EMPTY_CONTENT', true)],
  [status.INVALID_ARGUMENT, '{"code":', refused('GUARD_REJECTED', false)],
  [status.INVALID_ARGUMENT, 'the text says EMPTY_CONTENT', refused('GUARD_REJECTED', false)],
  [
    status.INVALID_ARGUMENT,
    'mlserver.errors.InferenceError: SEQUENCE_OVERFLOW: too long',
    refused('SEQUENCE_OVERFLOW', true),
  ],
  [
    status.UNKNOWN,
    "Unexpected <class 'mlserver.errors.InferenceError'>: SEQUENCE_OVERFLOW: too long",
    refused('SEQUENCE_OVERFLOW', true),
  ],
  [status.INTERNAL, 'builtins.ValueError: {"code":"INVALID_ROLE"}', refused('INVALID_ROLE', true)],
  [status.INVALID_ARGUMENT, 'a.b: said SEQUENCE_OVERFLOW: x', refused('GUARD_REJECTED', false)],
  [status.INVALID_ARGUMENT, 'not a class: SEQUENCE_OVERFLOW: x', refused('GUARD_REJECTED', false)],
  // Of a request with content, which a message may quote.
  [status.INVALID_ARGUMENT, 'Model guard not found', refused('GUARD_REJECTED', false)],
  [status.RESOURCE_EXHAUSTED, 'SERVER: Received message larger than max (5 vs. 4)', { kind: 'too-large' }],
  [status.RESOURCE_EXHAUSTED, 'Received message larger than max (5 vs. 4)', { kind: 'too-large' }],
  [status.RESOURCE_EXHAUSTED, 'rate limit', { kind: 'overload' }],
  [status.DEADLINE_EXCEEDED, '', { kind: 'attempt', code: 'TIMEOUT' }],
  [status.CANCELLED, '', { kind: 'attempt', code: 'GUARD_INTERNAL' }],
  [status.UNAUTHENTICATED, '', barred('not authorised', true)],
  [status.PERMISSION_DENIED, '', barred('not authorised', true)],
  [99 as status, '', { kind: 'attempt', code: 'GUARD_INTERNAL' }],
];

function endpoint(reason: (Fault & { kind: 'endpoint' })['reason'], reached: boolean): Fault {
  return { kind: 'endpoint', reason, reached };
}

function barred(reason: (Fault & { kind: 'barred' })['reason'], fatal = false): Fault {
  return { kind: 'barred', reason, fatal };
}

function refused(code: (Fault & { kind: 'refused' })['code'], named: boolean): Fault {
  return { kind: 'refused', code, named };
}

test.each([
  [status.UNAVAILABLE, 'no connection established alert '],
  [status.UNAVAILABLE, 'no connection established '],
  [status.INTERNAL, 'stub process '],
  [status.RESOURCE_EXHAUSTED, 'message '],
])('%i with 10 MB of %s takes no time', (code, part) => {
  const details = part.repeat(1e7 / part.length);
  const begunAt = performance.now();
  for (let count = 0; count < 100; count++) classifyGrpc(code, details);
  expect(performance.now() - begunAt).toBeLessThan(5000);
});

test.each(rows)('%i %s', (code, details, fault) => {
  expect(classifyGrpc(code, details)).toEqual(fault);
});
