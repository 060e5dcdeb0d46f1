import { expect, test } from 'vitest';
import type { Fault } from '../../../src/guard/protocol/call-error.ts';
import { classifyHttp } from '../../../src/guard/faults/classify.ts';

const refused = (code: (Fault & { kind: 'refused' })['code'], named: boolean): Fault => ({
  kind: 'refused',
  code,
  named,
});
const out = (reason: (Fault & { kind: 'endpoint' })['reason'], reached = false): Fault => ({
  kind: 'endpoint',
  reason,
  reached,
});
const barred = (reason: (Fault & { kind: 'barred' })['reason'], fatal = false): Fault => ({
  kind: 'barred',
  reason,
  fatal,
});
const attempt = (code: (Fault & { kind: 'attempt' })['code']): Fault => ({ kind: 'attempt', code });
const error = (text: string): string => JSON.stringify({ error: text });

const rows: [status: number, body: string, fault: Fault][] = [
  [400, error('[request id: 7] EMPTY_CONTENT: the text is blank'), refused('EMPTY_CONTENT', true)],
  [400, error('mlserver.errors.InferenceError: SEQUENCE_OVERFLOW: 9'), refused('SEQUENCE_OVERFLOW', true)],
  [500, error('INVALID_ROLE: bot'), refused('INVALID_ROLE', true)],
  [400, error('unexpected shape'), refused('GUARD_REJECTED', false)],
  [422, '{"detail":[{"type":"json_invalid"}]}', refused('GUARD_REJECTED', false)],
  [401, '', barred('not authorised', true)],
  [403, error('EMPTY_CONTENT'), barred('not authorised', true)],
  [404, error('Request for unknown model'), barred('unknown model')],
  [307, '', barred('redirects elsewhere')],
  [413, '', { kind: 'too-large' }],
  [429, '', { kind: 'rate', retryAfterMs: null }],
  [503, error('[request id: <id_unknown>] Exceeds maximum queue size'), { kind: 'overload' }],
  [503, error('Server is stopping, scheduler for model has stopped'), out('shutting down')],
  [503, error("'guard' version 1 is not at ready state"), out('not ready')],
  [503, '', attempt('GUARD_UNAVAILABLE')],
  [500, error("Stub process 'guard_0' is not healthy."), out('model process unhealthy', true)],
  [500, error('Failed to process the request(s) for model instance'), { kind: 'execution' }],
  [500, 'oops', attempt('GUARD_INTERNAL')],
  [504, '', attempt('TIMEOUT')],
];

test.each(rows)('%i %s', (status, body, fault) => {
  expect(classifyHttp({ status, headers: {}, body: Buffer.from(body), about: 'model' })).toEqual(fault);
});

test('a rate limit says how long to wait, and a server without the path is no KServe server', () => {
  const limited = { headers: { 'retry-after': '2' }, body: null, about: 'model' } as const;
  for (const status of [429, 503]) {
    expect(classifyHttp({ ...limited, status })).toEqual({ kind: 'rate', retryAfterMs: 2000 });
  }
  expect(classifyHttp({ status: 404, headers: {}, body: null, about: 'server' })).toEqual(
    barred('unknown path'),
  );
});
