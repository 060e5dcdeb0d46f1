import { DEFAULT_LIMITS } from '../config/run-config.ts';
import type { HttpLimits } from '../http/http-server.ts';

/** Same limits as for an item of a run. */
export const MAX_TEXT_BODY_BYTES = DEFAULT_LIMITS.itemBytes;

/** Limit of a caption or transcript. */
const MAX_DESCRIPTION_BYTES = 64 * 1024;

/** Max bytes for the boundaries and headers of a form. */
const FORM_OVERHEAD_BYTES = 64 * 1024;

export const FORM_LIMITS = {
  fileSize: DEFAULT_LIMITS.mediaBytes,
  files: 1,
  fields: 1,
  parts: 2,
  fieldSize: MAX_DESCRIPTION_BYTES,
  fieldNameSize: 64,
  headerPairs: 16,
} as const;

export const MAX_FORM_BYTES = DEFAULT_LIMITS.mediaBytes + MAX_DESCRIPTION_BYTES + FORM_OVERHEAD_BYTES;

/** Max bytes of text bodies at a time; each is held about three times: as bytes, as JSON and as text. */
export const MAX_TEXT_BYTES_IN_MEMORY = 64 * 1024 * 1024;
/** Max bytes of request files at a time, in the system's folder for temporary files. */
export const MAX_UPLOAD_BYTES_ON_DISK = 1024 * 1024 * 1024;

/** How long a request waits for others to end before it is rejected. */
export const QUEUE_TIMEOUT_MS = 5000;

/** How long requests wait for a guard to come back before they are rejected. */
export const GUARD_GRACE_MS = 5000;

/**
 * Max concurrent moderation streams. Each may hold an incomplete message of up to 1 MiB, and its part of the text that
 * waits for verdicts.
 */
export const MAX_STREAMS = 256;

/** Connections without a request, or with a rejected one, in addition to those being processed or waiting. */
const SPARE_CONNECTIONS = 256;

const HEADERS_TIMEOUT_MS = 10_000;

/** `timeoutMs` runs from the headers of a request to its reply, and includes the time for its body. */
export function httpLimits(maxConcurrency: number, timeoutMs: number): HttpLimits {
  return {
    maxConnections: 2 * maxConcurrency + MAX_STREAMS + SPARE_CONNECTIONS,
    maxBodyBytes: MAX_FORM_BYTES,
    headersTimeoutMs: Math.min(HEADERS_TIMEOUT_MS, timeoutMs),
    requestTimeoutMs: timeoutMs,
    // Open requests are ended earlier when the command is to stop.
    closeGraceMs: 12_000,
  };
}
