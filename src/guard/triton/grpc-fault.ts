import { status } from '@grpc/grpc-js';
import { INTERNAL_TEXTS, UNAVAILABLE_TEXTS, withoutRequestId } from '../kserve/error-texts.ts';
import type { Fault, OutReason } from '../protocol/call-error.ts';
import { namedError } from '../protocol/named-errors.ts';
import { MODEL_NAME } from '../tensors/protocol.ts';

const REFUSED: Fault = { kind: 'refused', code: 'GUARD_REJECTED', named: false };
const GUARD_FAILED: Fault = { kind: 'attempt', code: 'GUARD_INTERNAL' };
const UNKNOWN_MODEL: Fault = { kind: 'barred', reason: 'unknown model', fatal: false };
const NOT_AUTHORISED: Fault = { kind: 'barred', reason: 'not authorised', fatal: true };

function out(reason: OutReason, reached: boolean): Fault {
  return { kind: 'endpoint', reason, reached };
}

/** Status, message pattern (null: any), class. The first matching row decides. */
type Row = readonly [code: number, text: RegExp | null, fault: Fault];

/**
 * Statuses by their meaning in https://grpc.io/docs/guides/status-codes/. Triton's core and grpc-js 1.14 use one status
 * for several conditions, so those are told apart by their message texts.
 */
const TABLE: readonly Row[] = [
  ...UNAVAILABLE_TEXTS.map(([text, fault]): Row => [status.UNAVAILABLE, text, fault]),
  [status.UNAVAILABLE, /stream refused/i, out('shutting down', false)],
  // A TLS alert is the server rejecting our certificate, or the lack of one.
  [
    status.UNAVAILABLE,
    /no connection established.*\balert\b.*(certificate|unknown ca)/is,
    out('certificate refused', false),
  ],
  // OpenSSL and Node rejecting the server's certificate.
  [
    status.UNAVAILABLE,
    /no connection established(?!.*\balert\b).*certificate/is,
    out('certificate not trusted', false),
  ],
  [
    status.UNAVAILABLE,
    /no connection established|name resolution failed|failed to start http\/2 stream|channel closed/i,
    out('no connection', false),
  ],
  [status.UNAVAILABLE, /connection dropped|ECONNRESET|ETIMEDOUT|EPIPE/i, out('connection lost', true)],
  [status.UNAVAILABLE, null, { kind: 'attempt', code: 'GUARD_UNAVAILABLE' }],
  [status.NOT_FOUND, null, UNKNOWN_MODEL],
  [status.UNAUTHENTICATED, null, NOT_AUTHORISED],
  [status.PERMISSION_DENIED, null, NOT_AUTHORISED],
  [status.RESOURCE_EXHAUSTED, /larger than|message (size|length)|too large/i, { kind: 'too-large' }],
  [status.RESOURCE_EXHAUSTED, null, { kind: 'overload' }],
  // Node's HTTP/2 client closed the connection because of a protocol error; all calls on it fail.
  [status.INTERNAL, /internal client error/i, out('connection lost', true)],
  ...INTERNAL_TEXTS.map(([text, fault]): Row => [status.INTERNAL, text, fault]),
  [status.INTERNAL, null, GUARD_FAILED],
  [status.UNKNOWN, null, GUARD_FAILED],
  [status.DATA_LOSS, null, GUARD_FAILED],
  [status.ABORTED, null, GUARD_FAILED],
  [status.CANCELLED, null, GUARD_FAILED],
  [status.DEADLINE_EXCEEDED, null, { kind: 'attempt', code: 'TIMEOUT' }],
  [status.INVALID_ARGUMENT, null, REFUSED],
  [status.FAILED_PRECONDITION, null, REFUSED],
  [status.OUT_OF_RANGE, null, REFUSED],
  [status.ALREADY_EXISTS, null, REFUSED],
  [status.UNIMPLEMENTED, null, REFUSED],
];

/** Statuses a model uses for one request. Only with these can a message name one of the contract's failures. */
const MODEL_STATUSES: ReadonlySet<number> = new Set([
  status.INVALID_ARGUMENT,
  status.FAILED_PRECONDITION,
  status.OUT_OF_RANGE,
  status.INTERNAL,
  status.UNKNOWN,
  status.UNIMPLEMENTED,
]);

/** How grpc-js, client or server, reports a message over its size limit. */
const OVER_LIMIT_STATUS: number = status.RESOURCE_EXHAUSTED;
const OVER_LIMIT = /^Received message (larger than max|that decompresses to a size larger than)/;

/**
 * Classifies a gRPC status and its message, which is not used anywhere else. `hasStarted`: the guard had started to reply,
 * so a message over the size limit was its reply and not our request.
 */
export function classify(code: number, details: string, hasStarted = false): Fault {
  if (hasStarted && code === OVER_LIMIT_STATUS && OVER_LIMIT.test(details)) {
    return { kind: 'refused', code: 'INVALID_REPLY', named: false };
  }
  if (MODEL_STATUSES.has(code)) {
    const named = namedError(withoutRequestId(details));
    if (named !== null) return { kind: 'refused', code: named, named: true };
  }
  for (const [rowStatus, text, fault] of TABLE) {
    if (rowStatus === code && (text === null || text.test(details))) return fault;
  }
  return GUARD_FAILED;
}

/**
 * How servers that have no status for it say that they do not know the model: MLServer, and the KServe SDK where an
 * exception reaches gRPC, which puts its class before the text.
 */
const NAMES_UNKNOWN_MODEL = new RegExp(
  String.raw`^(?:Unexpected <class '[\w.]+'>: )?Model (?:with name )?${MODEL_NAME}\b.*(?:not found|does not exist)`,
);
const UNKNOWN_MODEL_STATUSES: ReadonlySet<number> = new Set([
  status.UNKNOWN,
  status.INVALID_ARGUMENT,
  status.INTERNAL,
]);

/** Classifies the status of a call about the model, which carries no content that its message could quote. */
export function classifyProbe(code: number, details: string): Fault {
  if (UNKNOWN_MODEL_STATUSES.has(code) && NAMES_UNKNOWN_MODEL.test(details)) return UNKNOWN_MODEL;
  return classify(code, details);
}
