import { expect, test } from 'vitest';
import type { Fault } from '../../../src/guard/protocol/call-error.ts';
import { classifyHttp } from '../../../src/guard/faults/classify.ts';

const refused = (code: (Fault & { kind: 'refused' })['code'], named: boolean): Fault => ({
  kind: 'refused',
  code,
  named,
});
const barred = (reason: (Fault & { kind: 'barred' })['reason'], fatal = false): Fault => ({
  kind: 'barred',
  reason,
  fatal,
});
const attempt = (code: (Fault & { kind: 'attempt' })['code']): Fault => ({ kind: 'attempt', code });
const error = (code: string, message = ''): string => JSON.stringify({ error: { code, message } });

const rows: [status: number, body: string, modality: 'text' | 'image' | 'audio', fault: Fault][] = [
  [400, error('EMPTY_CONTENT', 'the text is blank'), 'text', refused('EMPTY_CONTENT', true)],
  [422, error('bad_request', 'Sequence overflow: 9000 tokens'), 'text', refused('SEQUENCE_OVERFLOW', true)],
  [400, '{"detail":"Missing modality payload"}', 'text', refused('MISSING_PAYLOAD', true)],
  [422, '{"detail":[{"loc":["body"]}]}', 'text', refused('GUARD_REJECTED', false)],
  [400, 'EMPTY_CONTENT', 'text', refused('EMPTY_CONTENT', true)],
  [400, 'you sent EMPTY_CONTENT', 'text', refused('GUARD_REJECTED', false)],
  [500, error('UNSUPPORTED_AUDIO_TYPE'), 'audio', refused('UNSUPPORTED_AUDIO_TYPE', true)],
  [413, '', 'image', { kind: 'too-large' }],
  [413, error('SEQUENCE_OVERFLOW'), 'text', refused('SEQUENCE_OVERFLOW', true)],
  [415, '', 'audio', refused('UNSUPPORTED_AUDIO_TYPE', false)],
  [415, '', 'image', refused('UNSUPPORTED_TYPE', false)],
  [415, '', 'text', refused('GUARD_REJECTED', false)],
  [401, '', 'text', barred('not authorised', true)],
  [403, error('EMPTY_CONTENT'), 'text', barred('not authorised', true)],
  [404, '', 'text', barred('unknown path')],
  [404, '', 'image', barred('unknown path')],
  [302, '', 'text', barred('redirects elsewhere')],
  [308, '', 'image', barred('redirects elsewhere')],
  [408, '', 'text', attempt('TIMEOUT')],
  [429, '', 'text', { kind: 'rate', retryAfterMs: 2000 }],
  [500, 'oops', 'text', attempt('GUARD_INTERNAL')],
  [502, '', 'text', attempt('GUARD_UNAVAILABLE')],
  [503, '', 'text', { kind: 'rate', retryAfterMs: 2000 }],
  [504, '', 'text', attempt('TIMEOUT')],
  [418, '', 'text', refused('GUARD_REJECTED', false)],
];

test.each(rows)('%i %s for %s', (status, body, modality, fault) => {
  expect(
    classifyHttp({ status, headers: { 'retry-after': '2' }, body: Buffer.from(body), about: modality }),
  ).toEqual(fault);
});

test('503 without Retry-After is one failed request', () => {
  const failed = { status: 503, headers: {}, body: null, about: 'text' } as const;
  expect(classifyHttp(failed)).toEqual(attempt('GUARD_UNAVAILABLE'));
  expect(classifyHttp({ ...failed, status: 429 })).toEqual({ kind: 'rate', retryAfterMs: null });
});
