import type { Readable } from 'node:stream';
import { HttpError } from './http-error.ts';

/** Reads a body. Rejects with HttpError 413 for more than `maxBytes`, and with the stream's own error. */
export async function readBody(body: Readable, maxBytes: number): Promise<Buffer> {
  // One growing buffer: in separate buffers, pieces of one byte would take 300 times their size.
  let bytes = Buffer.alloc(1024);
  let length = 0;
  // Destroying the request would also close the connection, and with it the response.
  for await (const piece of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    const end = length + piece.length;
    if (end > maxBytes) throw new HttpError(413, `the body has more than ${maxBytes} bytes`);
    if (end > bytes.length) bytes = Buffer.concat([bytes], Math.max(end, 2 * bytes.length));
    piece.copy(bytes, length);
    length = end;
  }
  return bytes.subarray(0, length);
}
