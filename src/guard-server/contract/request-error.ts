/** The validation errors of the guard's contract. A rejected request is answered with `CODE: text`. */
export const CONTRACT_CODES = [
  /** An input required by the REQUEST_TYPE is missing or empty. */
  'MISSING_PAYLOAD',
  /** MESSAGES has no turn, or ends with a system turn. */
  'INVALID_CONVERSATION',
  /** A role is not system, user or assistant. */
  'INVALID_ROLE',
  /** A text or a turn is blank. */
  'EMPTY_CONTENT',
  /** AUDIO is not in a container that the contract lists. */
  'UNSUPPORTED_AUDIO_TYPE',
  /** The text has more tokens than the context window. */
  'SEQUENCE_OVERFLOW',
  /** Invalid in a way that no other code covers. */
  'GUARD_REJECTED',
  /** Valid, but no loaded probe can judge it. */
  'PROBE_NOT_LOADED',
] as const;

export type ContractCode = (typeof CONTRACT_CODES)[number];

/** Why a request is answered with an error; each transport maps every code to its own status. */
export type RequestErrorCode =
  | ContractCode
  /** Breaks the KServe v2 protocol: malformed, or with wrong names, data types, shapes or parameters. */
  | 'INVALID_REQUEST'
  /** Names a model or a version that is not served. */
  | 'MODEL_NOT_FOUND'
  /** Not ready, or the queue is full. May be retried. */
  | 'UNAVAILABLE'
  /** The model raised an error. */
  | 'EXECUTION_FAILED'
  /** The model could not be loaded. */
  | 'LOAD_FAILED'
  /** A part of the protocol that this server does not implement. */
  | 'NOT_SUPPORTED';

/** An error reply to a request. The message never quotes content. */
export class RequestError extends Error {
  override readonly name = 'RequestError';
  readonly code: RequestErrorCode;

  constructor(code: RequestErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}

/** Max characters of a client's name or id that a message quotes. */
const MAX_QUOTED = 64;

/** Shortens a client's name or id for a message: gRPC clients limit the length of the error texts they read. */
export function shortened(given: string): string {
  // A character is 1 or 2 UTF-16 code units.
  const characters = Array.from(given.slice(0, 2 * MAX_QUOTED + 2));
  return characters.length > MAX_QUOTED ? `${characters.slice(0, MAX_QUOTED).join('')}...` : given;
}

/** Escapes and shortens a client's name for a message. */
export function quoted(name: string): string {
  return `'${JSON.stringify(shortened(name)).slice(1, -1)}'`;
}

/** Prefixes an error text with the request's id, in Triton's format. */
export function withRequestId(id: string, text: string): string {
  return `[request id: ${id === '' ? '<id_unknown>' : shortened(id)}] ${text}`;
}

/** The error for a request that breaks the protocol. */
export function invalidRequest(id: string, text: string): RequestError {
  return new RequestError('INVALID_REQUEST', withRequestId(id, text));
}

/** The error for a request that the contract rejects. */
export function refused(id: string, code: ContractCode, text: string): RequestError {
  return new RequestError(code, withRequestId(id, `${code}: ${text}`));
}

/** The error for a request that may succeed later or on another server. */
export function unavailable(id: string, text: string): RequestError {
  return new RequestError('UNAVAILABLE', withRequestId(id, text));
}
