import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Refusal } from './admission.ts';

/** How long the body of a refused request is discarded, in milliseconds. */
const LINGER_MS = 2000;

/**
 * Answers a refused request and closes its connection. A client that sends its whole body before it reads would lose the
 * answer if the connection were closed under it, so the body is discarded until its end, for up to LINGER_MS.
 */
export function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: Refusal,
): void {
  response.writeHead(status, { ...headers, connection: 'close' }).write(body);
  const timer = setTimeout(() => response.end(), LINGER_MS);
  request.once('end', () => response.end());
  response.once('close', () => clearTimeout(timer));
  request.resume();
}
