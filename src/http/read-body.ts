import type { Readable } from 'node:stream';
import { CollectedBytes } from './collected-bytes.ts';
import { HttpError } from './http-error.ts';

/** Reads a body. Rejects with HttpError 413 for more than `maxBytes`, and with the stream's own error. */
export async function readBody(body: Readable, maxBytes: number): Promise<Buffer> {
  const bytes = new CollectedBytes();
  // A request that is destroyed would take the connection, and the response, with it.
  for await (const piece of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    if (bytes.length + piece.length > maxBytes)
      throw new HttpError(413, `the body has more than ${maxBytes} bytes`);
    bytes.add(piece);
  }
  return bytes.joined();
}
