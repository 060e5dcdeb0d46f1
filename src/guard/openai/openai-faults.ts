import type { IncomingHttpHeaders } from 'node:http';
import { httpFailed, retryAfterMs } from '../faults/classify.ts';
import { UNKNOWN_MODEL } from '../faults/fault-table.ts';
import type { HttpReply } from '../http/http-client.ts';
import { CallError } from '../protocol/call-error.ts';

/** Bytes of an error's body that are examined. */
const MAX_TEXT = 4096;

/** How servers name a text beyond the model's context: OpenAI and vLLM, SGLang, llama.cpp, TGI. Plain searches, in lower case. */
const TOO_LONG = [
  'context_length_exceeded',
  'maximum context length',
  'context length',
  'context size',
  'max_model_len',
  'must have less than',
];

/** How an error body of the API is written; servers leave out some of it, or put it at the top. */
interface ErrorBody {
  readonly message?: unknown;
  readonly code?: unknown;
}

/** An error reply of an OpenAI-compatible server. Its text decides the class of the fault, and is used nowhere else. */
export function openAiFailed({ status, headers, body }: HttpReply): CallError {
  const answer = `HTTP status ${status}`;
  const error = errorOf(body?.toString('utf8', 0, MAX_TEXT) ?? '');
  const text = `${textOf(error?.code)} ${textOf(error?.message)}`.toLowerCase();
  if ([400, 413, 422].includes(status) && TOO_LONG.some((part) => text.includes(part)))
    return new CallError(answer, { kind: 'refused', code: 'SEQUENCE_OVERFLOW', named: true });
  // A path that is not there is answered by a framework or a proxy, without an error of the API.
  if (status === 404 && error !== null) return new CallError(answer, UNKNOWN_MODEL);
  // Waiting does not help: the account has no credit.
  if (status === 429 && error?.code === 'insufficient_quota')
    return new CallError(answer, { kind: 'barred', reason: 'not authorised', fatal: true });
  if (status === 429 && isTooLarge(text)) return new CallError(answer, { kind: 'too-large' });
  if (status === 429) return new CallError(answer, { kind: 'rate', retryAfterMs: waitOf(headers) });
  return httpFailed({ status, headers, body, about: 'text' });
}

/** Whether the request alone exceeds a limit on tokens, so that waiting does not help. */
function isTooLarge(text: string): boolean {
  if (text.includes('request too large')) return true;
  const [, limit, requested] = /limit:? (\d{1,12}), requested:? (\d{1,12})/.exec(text) ?? [];
  return limit !== undefined && Number(requested) > Number(limit);
}

function errorOf(text: string): ErrorBody | null {
  try {
    const json = JSON.parse(text) as { readonly error?: unknown; readonly object?: unknown };
    if (typeof json.error === 'object') return json.error;
    if (typeof json.error === 'string') return { message: json.error };
    return json.object === 'error' ? (json as ErrorBody) : null;
  } catch {
    return null;
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Milliseconds until requests are allowed again; null when the server does not say. */
function waitOf(headers: IncomingHttpHeaders): number | null {
  const after = retryAfterMs(headers['retry-after']);
  const resets = ['requests', 'tokens'].flatMap((bucket) => {
    const isEmpty = headers[`x-ratelimit-remaining-${bucket}`] === '0';
    return isEmpty ? (durationMs(headers[`x-ratelimit-reset-${bucket}`]) ?? []) : [];
  });
  if (after === null && resets.length === 0) return null;
  return Math.max(after ?? 0, ...resets);
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** `6m0s`, `1.5s`, `120ms`. */
function durationMs(header: string | readonly string[] | undefined): number | null {
  if (typeof header !== 'string' || header.length > 40) return null;
  const parts = [...header.matchAll(/(\d{1,9}(?:\.\d{1,9})?)(ms|[smh])/g)];
  if (parts.length === 0 || parts.map(([all]) => all).join('') !== header) return null;
  return parts.reduce((sum, [, number, unit]) => sum + Number(number) * UNIT_MS[unit!]!, 0);
}
