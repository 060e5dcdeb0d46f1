import type { ItemCode } from '../../domain/item-error.ts';

/**
 * How guards name the contract's validation failures at the start of an error message. The codes are those of the
 * embedded guard; the phrases are the contract's names for the errors, whose actual texts it does not show.
 */
const NAMED_ERRORS: readonly (readonly [pattern: RegExp, code: ItemCode])[] = [
  [/^(MISSING_PAYLOAD\b|missing modality payload)/i, 'MISSING_PAYLOAD'],
  [/^(INVALID_CONVERSATION\b|invalid conversation structure)/i, 'INVALID_CONVERSATION'],
  [/^(INVALID_ROLE\b|invalid role)/i, 'INVALID_ROLE'],
  [/^(EMPTY_CONTENT\b|empty content)/i, 'EMPTY_CONTENT'],
  [/^(UNSUPPORTED_AUDIO_TYPE\b|unsupported audio type)/i, 'UNSUPPORTED_AUDIO_TYPE'],
  [/^(SEQUENCE_OVERFLOW\b|sequence overflow)/i, 'SEQUENCE_OVERFLOW'],
  [/^PROBE_NOT_LOADED\b/, 'PROBE_NOT_LOADED'],
];

/** Prefix that Triton and its Python backend add to the error of one request. */
const REQUEST_ID = /^\[request id: [^\]]*\]\s*/;

/**
 * Exception class that a server puts before its text: `mlserver.errors.InferenceError: ` by the workers of MLServer,
 * `Unexpected <class 'mlserver.errors.InferenceError'>: ` by gRPC for Python.
 */
const CLASS_PREFIX = /^(?:Unexpected <class '[\w.]+'>|[a-z_]\w*(?:\.\w+)+): /i;

/**
 * The failure named at the start of a message, after prefixes added by servers; null if there is none. In a JSON
 * message, the code takes precedence over the text: `{"code", "message"}`, `{"error": {"code", "message"}}`,
 * `{"error"}`, `{"detail"}`.
 */
export function namedError(message: string): ItemCode | null {
  const start = withoutPrefix(message.trim());
  for (const text of start.startsWith('{') ? textsInJson(start) : [start]) {
    const named = NAMED_ERRORS.find(([pattern]) => pattern.test(text));
    if (named !== undefined) return named[1];
  }
  return null;
}

function textsInJson(json: string): string[] {
  type Body = { readonly code?: unknown; readonly message?: unknown; readonly detail?: unknown };
  let body: Body & { readonly error?: Body | string | null };
  try {
    body = JSON.parse(json) as typeof body;
  } catch {
    // The body was truncated.
    return [withoutPrefix(json.replace(/^\{"error": ?"/, ''))];
  }
  const { error } = body;
  const inner: Body = typeof error === 'string' ? { message: error } : (error ?? {});
  return [body.code, inner.code, body.message, inner.message, body.detail]
    .filter((value) => typeof value === 'string')
    .map(withoutPrefix);
}

function withoutPrefix(text: string): string {
  return text.replace(REQUEST_ID, '').replace(CLASS_PREFIX, '');
}
