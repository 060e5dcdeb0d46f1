import { status } from '@grpc/grpc-js';

/** The validation failures of the guard's contract, and how this guard names them in its replies. */
export type ContractCode =
  | 'MISSING_PAYLOAD'
  | 'INVALID_CONVERSATION'
  | 'INVALID_ROLE'
  | 'EMPTY_CONTENT'
  | 'UNSUPPORTED_AUDIO_TYPE'
  | 'SEQUENCE_OVERFLOW'
  /** Wrong in a way the contract has no name for. */
  | 'GUARD_REJECTED'
  /** Right, but nothing here can judge it. */
  | 'PROBE_NOT_LOADED';

/** The answer to one request that gets no tensors: a gRPC status and a text that never quotes content. */
export class RequestError extends Error {
  override readonly name = 'RequestError';
  readonly status: status;

  constructor(code: status, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.status = code;
  }
}

/** Longest name or id of the client's that a message holds, in characters. */
const MAX_QUOTED = 64;

/** What the client named, as far as a message holds it: gRPC clients cannot read an error text without bound. */
export function shortened(given: string): string {
  // A character is one or two UTF-16 code units.
  const characters = Array.from(given.slice(0, 2 * MAX_QUOTED + 2));
  return characters.length > MAX_QUOTED ? `${characters.slice(0, MAX_QUOTED).join('')}...` : given;
}

/** How errors that the server itself finds begin. */
export function withRequestId(id: string, text: string): string {
  return `[request id: ${id === '' ? '<id_unknown>' : shortened(id)}] ${text}`;
}

/** A request that breaks the protocol: INVALID_ARGUMENT. */
export function invalidRequest(id: string, text: string): RequestError {
  return new RequestError(status.INVALID_ARGUMENT, withRequestId(id, text));
}

/**
 * A request the contract refuses, answered as `CODE: text`: INVALID_ARGUMENT, or FAILED_PRECONDITION where nothing
 * is wrong with the request but the probe for it is absent.
 */
export function refused(id: string, code: ContractCode, text: string): RequestError {
  const grpc = code === 'PROBE_NOT_LOADED' ? status.FAILED_PRECONDITION : status.INVALID_ARGUMENT;
  return new RequestError(grpc, withRequestId(id, `${code}: ${text}`));
}

/** A request that would be served elsewhere or later: UNAVAILABLE. */
export function unavailable(id: string, text: string): RequestError {
  return new RequestError(status.UNAVAILABLE, withRequestId(id, text));
}
