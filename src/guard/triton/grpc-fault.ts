import { status } from '@grpc/grpc-js';
import {
  type ErrorText,
  faultIn,
  INTERNAL_TEXTS,
  UNAVAILABLE_TEXTS,
  withoutRequestId,
} from '../kserve/error-texts.ts';
import type { Fault, OutReason } from '../protocol/call-error.ts';
import { cutText } from '../protocol/foreign-text.ts';
import { namedError } from '../protocol/named-errors.ts';
import { MODEL_NAME } from '../tensors/protocol.ts';

const REFUSED: Fault = { kind: 'refused', code: 'GUARD_REJECTED', named: false };
const GUARD_FAILED: Fault = { kind: 'attempt', code: 'GUARD_INTERNAL' };
const UNKNOWN_MODEL: Fault = { kind: 'barred', reason: 'unknown model', fatal: false };
const NOT_AUTHORISED: Fault = { kind: 'barred', reason: 'not authorised', fatal: true };

function out(reason: OutReason, reached: boolean): Fault {
  return { kind: 'endpoint', reason, reached };
}

/** Texts of grpc-js 1.14 with UNAVAILABLE. */
const CONNECTION_TEXTS: readonly ErrorText[] = [
  [['stream refused'], out('shutting down', false)],
  [
    [
      'no connection established',
      'name resolution failed',
      'failed to start http/2 stream',
      'channel closed',
    ],
    out('no connection', false),
  ],
  [['connection dropped', 'econnreset', 'etimedout', 'epipe'], out('connection lost', true)],
];

/** What Node or OpenSSL says of certificates after `no connection established`. */
const NO_CONNECTION = 'no connection established';
const ALERT = ' alert ';

/** Texts of Triton's core and grpc-js, which use one status for several conditions. */
const TEXTS: Readonly<Partial<Record<status, (text: string) => Fault | null>>> = {
  [status.UNAVAILABLE]: (text) =>
    faultIn(text, UNAVAILABLE_TEXTS) ?? certificateFault(text) ?? faultIn(text, CONNECTION_TEXTS),
  [status.RESOURCE_EXHAUSTED]: (text) =>
    faultIn(text, [[['larger than', 'message size', 'message length', 'too large'], { kind: 'too-large' }]]),
  // Node's HTTP/2 client closed the connection because of a protocol error; all calls on it fail.
  [status.INTERNAL]: (text) =>
    faultIn(text, [[['internal client error'], out('connection lost', true)], ...INTERNAL_TEXTS]),
};

/** Statuses by their meaning in https://grpc.io/docs/guides/status-codes/, where no text says more. */
const STATUSES: Readonly<Partial<Record<status, Fault>>> = {
  [status.UNAVAILABLE]: { kind: 'attempt', code: 'GUARD_UNAVAILABLE' },
  [status.NOT_FOUND]: UNKNOWN_MODEL,
  [status.UNAUTHENTICATED]: NOT_AUTHORISED,
  [status.PERMISSION_DENIED]: NOT_AUTHORISED,
  [status.RESOURCE_EXHAUSTED]: { kind: 'overload' },
  [status.DEADLINE_EXCEEDED]: { kind: 'attempt', code: 'TIMEOUT' },
  [status.INVALID_ARGUMENT]: REFUSED,
  [status.FAILED_PRECONDITION]: REFUSED,
  [status.OUT_OF_RANGE]: REFUSED,
  [status.ALREADY_EXISTS]: REFUSED,
  [status.UNIMPLEMENTED]: REFUSED,
};

/** A TLS alert is the server rejecting our certificate, or the lack of one; else OpenSSL or Node rejects the server's. */
function certificateFault(text: string): Fault | null {
  const lower = text.toLowerCase();
  const at = lower.indexOf(NO_CONNECTION);
  if (at < 0) return null;
  const cause = lower.slice(at);
  const alertAt = cause.indexOf(ALERT);
  if (alertAt < 0) return cause.includes('certificate') ? out('certificate not trusted', false) : null;
  const alert = cause.slice(alertAt);
  const refused = alert.includes('certificate') || alert.includes('unknown ca');
  return refused ? out('certificate refused', false) : null;
}

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
export function classify(code: number, text: string, hasStarted = false): Fault {
  const details = cutText(text);
  if (hasStarted && code === OVER_LIMIT_STATUS && OVER_LIMIT.test(details)) {
    return { kind: 'refused', code: 'INVALID_REPLY', named: false };
  }
  if (MODEL_STATUSES.has(code)) {
    const named = namedError(withoutRequestId(details));
    if (named !== null) return { kind: 'refused', code: named, named: true };
  }
  const known: status = code;
  return TEXTS[known]?.(details) ?? STATUSES[known] ?? GUARD_FAILED;
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
  if (UNKNOWN_MODEL_STATUSES.has(code) && NAMES_UNKNOWN_MODEL.test(cutText(details))) return UNKNOWN_MODEL;
  return classify(code, details);
}
