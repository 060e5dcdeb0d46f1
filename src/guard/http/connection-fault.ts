import type { Fault } from '../protocol/call-error.ts';

/** Error codes of Node and OpenSSL for an untrusted certificate. */
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER|HOSTNAME_MISMATCH/;
/** Error codes before a connection exists. With any other code the request may have been running. */
const NOT_CONNECTED: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EHOSTDOWN',
  'ENETDOWN',
  'EADDRNOTAVAIL',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EPROTO',
]);

/** Classifies the code of a Node error that ended a request without a reply. */
export function connectionFault(code: string): Fault {
  // Node's HTTP parser: the reply is not HTTP, or its headers are too large.
  if (code.startsWith('HPE_')) return { kind: 'refused', code: 'INVALID_REPLY', named: false };
  if (isRefusedCertificate(code)) {
    return { kind: 'endpoint', reason: 'certificate refused', reached: false };
  }
  if (CERTIFICATE.test(code)) {
    return { kind: 'endpoint', reason: 'certificate not trusted', reached: false };
  }
  const never = NOT_CONNECTED.has(code) || code.startsWith('ERR_SSL');
  return never
    ? { kind: 'endpoint', reason: 'no connection', reached: false }
    : { kind: 'endpoint', reason: 'connection lost', reached: true };
}

/** Whether OpenSSL says that the server rejects our certificate, or the lack of one. */
function isRefusedCertificate(code: string): boolean {
  const alertAt = code.indexOf('ALERT_');
  if (!code.startsWith('ERR_SSL_') || alertAt < 0) return false;
  const alert = code.slice(alertAt);
  return alert.includes('CERTIFICATE') || alert.includes('UNKNOWN_CA');
}
