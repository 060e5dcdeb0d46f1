import type { ApiFailure } from '../../../src/dashboard/api/runs.ts';
import type { SavedReview } from '../../../src/dashboard/api/reviews.ts';
import { loadPreference, savePreference } from '../app/preferences.ts';

/** Longest wait for an answer. */
const TIMEOUT_MS = 60_000;

/** An answer that is not 2xx, or none at all (`UNREACHABLE`). The message is human-readable, and our own. */
export class ApiError extends Error {
  readonly code: string;
  /** HTTP status; 0 if there was no answer. */
  readonly status: number;
  /** Key of the request's body that is wrong; null if that is not known. */
  readonly field: string | null;
  /** The newest review of an item that somebody has reviewed meanwhile; else null. */
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
  /** Sent as JSON; the server wants one with whatever changes something. */
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
  /** Tag of the answer that is known: one that is the same comes as 304, without a body. */
  readonly etag?: string | null;
}

/** For a browser that keeps nothing; in others, all tabs have the same. */
let pageKey: string | null = null;

/** Sends this key, which the server gave with the session, from now on. */
export function setPageKey(key: string): void {
  pageKey = key;
  savePreference('page-key', key);
}

const loggedOut = new EventTarget();

/** Calls back when the server no longer knows the session. */
export function onLoggedOut(listener: () => void): void {
  loggedOut.addEventListener('logged-out', listener);
}

/** The answer to a request of the API. Throws an ApiError, or what `signal` was aborted with. */
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

/** The JSON of an answer. The server is from the same build, so its types are trusted. */
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
