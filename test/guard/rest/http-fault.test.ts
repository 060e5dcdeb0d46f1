import { expect, test } from 'vitest';
import type { Fault } from '../../../src/guard/protocol/call-error.ts';
import { classifyHttp, connectionFault, retryAfterMs } from '../../../src/guard/rest/http-fault.ts';

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
  [401, '', 'text', { kind: 'fatal', reason: 'not authorised' }],
  [403, error('EMPTY_CONTENT'), 'text', { kind: 'fatal', reason: 'not authorised' }],
  [404, '', 'text', out('unknown path')],
  [404, '', 'image', refused('PROBE_NOT_LOADED', false)],
  [302, '', 'text', out('redirects elsewhere')],
  [308, '', 'image', out('redirects elsewhere')],
  [408, '', 'text', attempt('TIMEOUT')],
  [429, '', 'text', { kind: 'rate', retryAfterMs: 2000 }],
  [500, 'oops', 'text', attempt('GUARD_INTERNAL')],
  [502, '', 'text', attempt('GUARD_UNAVAILABLE')],
  [503, '', 'text', { kind: 'rate', retryAfterMs: 2000 }],
  [504, '', 'text', attempt('TIMEOUT')],
  [418, '', 'text', refused('GUARD_REJECTED', false)],
];

test.each(rows)('%i %s for %s', (status, body, modality, fault) => {
  expect(classifyHttp({ status, retryAfter: '2', body, modality })).toEqual(fault);
});

test('503 without Retry-After is one failed request', () => {
  const failed = { status: 503, retryAfter: null, body: '', modality: 'text' } as const;
  expect(classifyHttp(failed)).toEqual(attempt('GUARD_UNAVAILABLE'));
  expect(classifyHttp({ ...failed, status: 429 })).toEqual({ kind: 'rate', retryAfterMs: null });
});

test('Retry-After is seconds or a date, and honored up to a day', () => {
  const now = Date.parse('2026-11-21T02:00:00Z');
  expect(retryAfterMs('3', now)).toBe(3000);
  expect(retryAfterMs(' 0 ', now)).toBe(0);
  expect(retryAfterMs('Sat, 21 Nov 2026 02:00:05 GMT', now)).toBe(5000);
  expect(retryAfterMs('Sat, 21 Nov 2026 01:00:00 GMT', now)).toBe(0);
  expect(retryAfterMs('99999999999', now)).toBe(24 * 3_600_000);
  for (const nothing of [null, '', 'soon', '-1x']) expect(retryAfterMs(nothing, now)).toBeNull();
});

test.each([
  ['ECONNREFUSED', out('no connection')],
  ['ENOTFOUND', out('no connection')],
  ['ERR_SSL_WRONG_VERSION_NUMBER', out('no connection')],
  ['ECONNRESET', out('connection lost', true)],
  ['EPIPE', out('connection lost', true)],
  ['HPE_INVALID_CONSTANT', refused('INVALID_REPLY', false)],
  ['HPE_HEADER_OVERFLOW', refused('INVALID_REPLY', false)],
  ['', out('connection lost', true)],
  ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', out('certificate refused')],
  ['ERR_SSL_TLSV1_ALERT_UNKNOWN_CA', out('certificate refused')],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', out('certificate not trusted')],
  ['ERR_TLS_CERT_ALTNAME_INVALID', out('certificate not trusted')],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', out('certificate not trusted')],
])('%s', (code, fault) => {
  expect(connectionFault(code)).toEqual(fault);
});
