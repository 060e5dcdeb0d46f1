import type { IncomingHttpHeaders } from 'node:http';
import { statusFault } from '../http/status-fault.ts';
import { faultIn, INTERNAL_TEXTS, UNAVAILABLE_TEXTS, withoutRequestId } from '../kserve/error-texts.ts';
import type { Fault } from '../protocol/call-error.ts';
import { namedError } from '../protocol/named-errors.ts';

/** Statuses that servers use for one request. Only with these can a body name one of the contract's failures. */
const REQUEST_STATUSES: ReadonlySet<number> = new Set([400, 422, 500, 501]);

interface HttpFailure {
  /** Not 2xx. */
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** What the path is about. */
  readonly about: 'server' | 'model';
}

/** Classifies an error reply of a KServe server over HTTP. Its body is not used anywhere else. */
export function classifyKserveHttp({ status, headers, body, about }: HttpFailure): Fault {
  const text = withoutRequestId(textOf(body));
  const named = REQUEST_STATUSES.has(status) ? namedError(text) : null;
  if (named !== null) return { kind: 'refused', code: named, named: true };
  if (status === 404 && about === 'model') {
    return { kind: 'barred', reason: 'unknown model', fatal: false };
  }
  const texts = status === 503 ? UNAVAILABLE_TEXTS : status === 500 ? INTERNAL_TEXTS : [];
  return faultIn(text, texts) ?? statusFault(status, headers);
}

/** The text in `{"error": "..."}`, the error body of the KServe v2 protocol, which may have been cut; else the body. */
function textOf(body: string): string {
  try {
    const { error } = JSON.parse(body) as { readonly error?: unknown };
    return typeof error === 'string' ? error : body;
  } catch {
    return body.replace(/^\{"error": ?"/, '');
  }
}
