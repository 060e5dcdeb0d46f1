import type { ApiFailure } from '../../../src/dashboard/api/runs.ts';
import type { SavedReview } from '../../../src/dashboard/api/reviews.ts';
import { loadPreference, savePreference } from '../app/preferences.ts';

/** Timeout for an answer, in milliseconds. */
const TIMEOUT_MS = 60_000;

/**
 * Thrown for a status other than 2xx, or without an answer (`UNREACHABLE`). The message is human-readable, and our own.
 */
export class ApiError extends Error {
  readonly code: string;
  /** HTTP status; 0 if there was no answer. */
  readonly status: number;
  /** Key in the request's body that is invalid; null if unknown. */
  readonly field: string | null;
  /** The newest review of an item that was reviewed in the meantime, otherwise null. */
  readonly review: SavedReview | null;

  constructor(
    code: string,
    message: string,
    status: number,
    { field = null, review = null }: Pick<Partial<ApiError>, 'field' | 'review'> = {},
  ) {
    super(message);
    this.code = code;
    this.status = status;
    this.field = field;
    this.review = review;
  }
}

interface Options {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  /** Sent as JSON; the server requires a body for requests that change something. */
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
  /** Tag of the known answer: if it is unchanged, the response is 304, without a body. */
  readonly etag?: string | null;
}

/** Fallback for a browser without storage; in others, all tabs share the key. */
let pageKey: string | null = null;

/** Sets the key to send from now on; the server issued it with the session. */
export function setPageKey(key: string): void {
  pageKey = key;
  savePreference('page-key', key);
}

const loggedOut = new EventTarget();

/** Calls back when the server no longer knows the session. */
export function onLoggedOut(listener: () => void): void {
  loggedOut.addEventListener('logged-out', listener);
}

/** Sends a request to the API. Throws an ApiError, or the abort reason of `signal`. */
export async function request(
  path: string,
  { method = 'GET', body, signal, etag = null }: Options = {},
): Promise<Response> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  let response: Response;
  try {
    response = await fetch(path, {
      method,
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
      ...(etag !== null && { headers: { 'if-none-match': etag } }),
      ...(body !== undefined && {
        body: JSON.stringify(body),
        headers: {
          'content-type': 'application/json',
          'x-page-key': loadPreference('page-key') ?? pageKey ?? '',
        },
      }),
    });
  } catch {
    signal?.throwIfAborted();
    throw timeout.aborted
      ? new ApiError('TIMEOUT', 'The server did not answer in time.', 0)
      : new ApiError('UNREACHABLE', 'The server cannot be reached. Is guardsweep serve still running?', 0);
  }
  if (response.ok || response.status === 304) return response;
  const failure = await failureOf(response);
  if (response.status === 401) loggedOut.dispatchEvent(new Event('logged-out'));
  throw new ApiError(failure.code, failure.message, response.status, {
    field: failure.field ?? null,
    review: failure.review ?? null,
  });
}

/** Requests JSON. The server is from the same build, so its types are trusted. */
export async function requestJson<T>(path: string, options?: Options): Promise<T> {
  const response = await request(path, options);
  return (await response.json()) as T;
}

async function failureOf(response: Response): Promise<ApiFailure['error']> {
  try {
    return ((await response.json()) as ApiFailure).error;
  } catch {
    return { code: 'INTERNAL', message: `The server answered with status ${response.status}.` };
  }
}
