import { expect, test } from 'vitest';
import type { Fault } from '../../../src/guard/protocol/call-error.ts';
import { connectionFault } from '../../../src/guard/faults/fault-table.ts';

const out = (reason: (Fault & { kind: 'endpoint' })['reason'], reached = false): Fault => ({
  kind: 'endpoint',
  reason,
  reached,
});

const UNREADABLE: Fault = { kind: 'refused', code: 'INVALID_REPLY', named: false };

test.each([
  ['ECONNREFUSED', out('no connection')],
  ['ENOTFOUND', out('no connection')],
  ['ERR_SSL_WRONG_VERSION_NUMBER', out('no connection')],
  ['ECONNRESET', out('connection lost', true)],
  ['EPIPE', out('connection lost', true)],
  ['HPE_INVALID_CONSTANT', UNREADABLE],
  ['HPE_HEADER_OVERFLOW', UNREADABLE],
  ['', out('connection lost', true)],
  ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', out('certificate refused')],
  ['ERR_SSL_TLSV1_ALERT_UNKNOWN_CA', out('certificate refused')],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', out('certificate not trusted')],
  ['ERR_TLS_CERT_ALTNAME_INVALID', out('certificate not trusted')],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', out('certificate not trusted')],
])('%s', (code, fault) => {
  expect(connectionFault(code)).toEqual(fault);
});
