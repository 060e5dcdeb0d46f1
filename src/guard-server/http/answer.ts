import type { OutgoingHttpHeaders } from 'node:http';

/** The response to a request. */
export interface Answer {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body: Buffer | string;
}

export function jsonAnswer(value: unknown, status = 200): Answer {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) };
}

/** A status alone, as health checks are answered. */
export function emptyAnswer(status = 200): Answer {
  return { status, headers: {}, body: '' };
}
