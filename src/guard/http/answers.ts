import type { CallOptions } from '../protocol/connection.ts';
import type { HttpClient } from './http-client.ts';

/** Statuses of a gateway whose server is gone, and of a server that is not ready. */
const NOBODY: ReadonlySet<number> = new Set([502, 503, 504]);
const MAX_REPLY_BYTES = 64 * 1024;

/**
 * Whether a server that has no readiness check answers at a path. A GET has nothing judged and costs nothing: any answer
 * of the server counts, such as 405. Rejects with `CallError` when nothing answers.
 */
export async function answers(client: HttpClient, path: string, options: CallOptions): Promise<boolean> {
  const { status } = await client.send({ method: 'GET', path, maxReplyBytes: MAX_REPLY_BYTES }, options);
  return !NOBODY.has(status);
}
