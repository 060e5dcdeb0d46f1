import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';

/** How long the body of a refused request is discarded, in milliseconds. */
const LINGER_MS = 30_000;

/**
 * The body of a response after which the connection is closed, to a request whose own body is not read. It ends when that
 * body has arrived, or after LINGER_MS: a client that sends its whole body before it reads would lose the response if the
 * connection were closed under it.
 */
export function refusalBody(request: IncomingMessage, body: string | Buffer): Readable {
  return Readable.from(afterRequest(request, Buffer.from(body)), { objectMode: false });
}

async function* afterRequest(request: IncomingMessage, body: Buffer): AsyncGenerator<Buffer, void, void> {
  yield body;
  request.resume();
  const late = AbortSignal.timeout(LINGER_MS);
  await finished(request, { writable: false, signal: late }).catch(() => {}); // too slow, or the client left
}
