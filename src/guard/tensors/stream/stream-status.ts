/** gRPC status names by number (https://grpc.io/docs/guides/status-codes/). */
const STATUSES = [
  'OK',
  'CANCELLED',
  'UNKNOWN',
  'INVALID_ARGUMENT',
  'DEADLINE_EXCEEDED',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED',
  'FAILED_PRECONDITION',
  'ABORTED',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
  'UNAUTHENTICATED',
] as const;

export type StatusName = (typeof STATUSES)[number];

/** Added to the number of a gRPC status for the WebSocket close code of a stream that ends with it. */
const FIRST_CLOSE_CODE = 4000;

/** The close code of a WebSocket whose stream ends with this error: 4003 for INVALID_ARGUMENT. */
export function closeCodeOf(status: StatusName): number {
  return FIRST_CLOSE_CODE + STATUSES.indexOf(status);
}

/** The status of a close code; null for a code of the WebSocket protocol itself. */
export function statusOfCloseCode(code: number): StatusName | null {
  return STATUSES[code - FIRST_CLOSE_CODE] ?? null;
}

export function isStatusName(name: string): name is StatusName {
  return (STATUSES as readonly string[]).includes(name);
}
