import type { FastifyReply } from 'fastify';
import { DashboardError } from '../errors.ts';

/** Path parameters of routes about an item. */
export interface ItemRoute {
  Params: { run: string; seq: string };
}

/** Parses the seq in a path. NOT_FOUND if it is not one. */
export function seqOf(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw noSuchItem();
  return Number(text);
}

export function noSuchItem(): DashboardError {
  return new DashboardError('NOT_FOUND', 'there is no such item');
}

/** Aborts when the client disconnects before it received the answer. */
export function clientAbortSignal({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  const abort = (): void => gone.abort(new DashboardError('UNAVAILABLE', 'the client is gone'));
  if (raw.closed) abort();
  else raw.once('close', abort);
  return gone.signal;
}
