import { status } from '@grpc/grpc-js';
import { type ItemCode } from '../domain/item-error.ts';

/** Why an endpoint is not used. Stable words, shown to people. */
export type OutReason =
  | 'no connection'
  | 'connection lost'
  | 'not ready'
  | 'shutting down'
  | 'model process unhealthy'
  | 'no answer in time'
  | 'fails on harmless text'
  | 'version not readable'
  | 'unknown model'
  | 'not authorised'
  | 'not a guard';

/**
 * What a failed call means for the items in it: the error's class, on which every retry depends.
 * - `refused`: this content will never be judged. `named` when the guard said which of the contract's failures
 *   it is; a plain refusal is believed only of a guard that judges other content.
 * - `attempt`: worth trying again; a try counts against the item only if the guard judges other content.
 * - `execution`: the guard failed on everything it ran together; which item is to blame shows when each runs alone.
 * - `overload`: too much at once; says nothing of the items.
 * - `too-large`: the message, as a whole, is over a limit.
 * - `endpoint`: the endpoint is of no use for now; says nothing of the items. `reached` when they may have been
 *   running there as it went.
 * - `fatal`: the endpoint will be of no use until somebody changes a setting.
 */
export type Fault =
  | { readonly kind: 'refused'; readonly code: ItemCode; readonly named: boolean }
  | { readonly kind: 'attempt'; readonly code: ItemCode }
  | { readonly kind: 'execution' }
  | { readonly kind: 'overload' }
  | { readonly kind: 'too-large' }
  | { readonly kind: 'endpoint'; readonly reason: OutReason; readonly reached: boolean }
  | { readonly kind: 'fatal'; readonly reason: OutReason };

/**
 * A failed call. The foreign error is not kept, not even as cause: a guard's message can quote content.
 */
export class CallError extends Error {
  override readonly name = 'CallError';
  readonly fault: Fault;
  /** gRPC status number. */
  readonly status: number;

  constructor(code: number, fault: Fault) {
    super(`the guard call failed with gRPC status ${status[code] ?? code}`);
    this.status = code;
    this.fault = fault;
  }
}

/** Triton's and Python backends' prefix to an error of one request. */
const REQUEST_ID_PREFIX = /^\[request id: [^\]]{0,256}\]\s*/;

/**
 * How guards name the contract's failures at the beginning of a message. The codes are what the embedded guard
 * sends, the phrases are the contract's own; a guard with other texts is adapted here.
 */
export const NAMED_ERRORS: readonly (readonly [pattern: RegExp, code: ItemCode])[] = [
  [/^(MISSING_PAYLOAD\b|missing modality payload)/i, 'MISSING_PAYLOAD'],
  [/^(INVALID_CONVERSATION\b|invalid conversation structure)/i, 'INVALID_CONVERSATION'],
  [/^(INVALID_ROLE\b|invalid role)/i, 'INVALID_ROLE'],
  [/^(EMPTY_CONTENT\b|empty content)/i, 'EMPTY_CONTENT'],
  [/^(UNSUPPORTED_AUDIO_TYPE\b|unsupported audio type)/i, 'UNSUPPORTED_AUDIO_TYPE'],
  [/^(SEQUENCE_OVERFLOW\b|sequence overflow)/i, 'SEQUENCE_OVERFLOW'],
  [/^PROBE_NOT_LOADED\b/, 'PROBE_NOT_LOADED'],
];

const REFUSED: Fault = { kind: 'refused', code: 'GUARD_REJECTED', named: false };
const GUARD_FAILED: Fault = { kind: 'attempt', code: 'GUARD_INTERNAL' };
const OVERLOAD: Fault = { kind: 'overload' };

function out(reason: OutReason, reached: boolean): Fault {
  return { kind: 'endpoint', reason, reached };
}

/** A row: the status, the texts it applies to (none: any), the class. The first row that fits decides. */
type Row = readonly [code: number, text: RegExp | null, fault: Fault];

/** Texts are those of Triton's core and of grpc-js 1.14, which give several conditions one status. */
const TABLE: readonly Row[] = [
  [status.UNAVAILABLE, /exceeds maximum queue size|request timeout expired/i, OVERLOAD],
  [
    status.UNAVAILABLE,
    /shutting down|server is stopping|server exiting|stream refused/i,
    out('shutting down', false),
  ],
  [status.UNAVAILABLE, /not at ready state|server not ready/i, out('not ready', false)],
  [
    status.UNAVAILABLE,
    /no connection established|name resolution failed|failed to start http\/2 stream|channel closed/i,
    out('no connection', false),
  ],
  [status.UNAVAILABLE, /connection dropped|ECONNRESET|ETIMEDOUT|EPIPE/i, out('connection lost', true)],
  [status.UNAVAILABLE, null, { kind: 'attempt', code: 'GUARD_UNAVAILABLE' }],
  [status.NOT_FOUND, null, out('unknown model', false)],
  [status.UNAUTHENTICATED, null, { kind: 'fatal', reason: 'not authorised' }],
  [status.PERMISSION_DENIED, null, { kind: 'fatal', reason: 'not authorised' }],
  [status.RESOURCE_EXHAUSTED, /larger than|message (size|length)|too large/i, { kind: 'too-large' }],
  [status.RESOURCE_EXHAUSTED, null, OVERLOAD],
  [status.INTERNAL, /stub process .*is not healthy/is, out('model process unhealthy', true)],
  [status.INTERNAL, /failed to process the request\(s\) for model/i, { kind: 'execution' }],
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

/** Statuses with which a model answers for one request; only there can a text name a failure of the contract. */
const MODEL_STATUSES: ReadonlySet<number> = new Set([
  status.INVALID_ARGUMENT,
  status.FAILED_PRECONDITION,
  status.OUT_OF_RANGE,
  status.INTERNAL,
  status.UNKNOWN,
  status.UNIMPLEMENTED,
]);

/** Classifies a gRPC status and its message; the message is read here and nowhere else. */
export function classify(code: number, details: string): Fault {
  if (MODEL_STATUSES.has(code)) {
    const named = namedError(details.replace(REQUEST_ID_PREFIX, ''));
    if (named !== null) return { kind: 'refused', code: named, named: true };
  }
  for (const [rowStatus, text, fault] of TABLE) {
    if (rowStatus === code && (text === null || text.test(details))) return fault;
  }
  return GUARD_FAILED;
}

/** The failure that a text, or the `code` of a JSON text, begins with. */
function namedError(text: string): ItemCode | null {
  const name = text.startsWith('{') ? jsonCode(text) : text;
  return NAMED_ERRORS.find(([pattern]) => pattern.test(name))?.[1] ?? null;
}

function jsonCode(text: string): string {
  try {
    const value = JSON.parse(text) as { code?: unknown; error?: { code?: unknown } | null };
    const code = value.code ?? value.error?.code;
    return typeof code === 'string' ? code : '';
  } catch {
    return '';
  }
}
