import type { IncomingMessage } from 'node:http';
import type { Transform } from 'node:stream';
import { createGunzip, createInflate } from 'node:zlib';
import { HttpError } from '../../http/http-error.ts';
import { readBody } from '../../http/read-body.ts';
import type { CallMemory } from '../service/call-memory.ts';

/** What one request holds of the memory of all open calls. */
export class RequestMemory {
  readonly #room: CallMemory;
  #taken = 0;
  #isOver = false;

  constructor(room: CallMemory) {
    this.#room = room;
  }

  /** Throws HttpError 503 when there is no room. */
  take(bytes: number): void {
    if (this.#isOver || !this.#room.take(bytes)) {
      throw new HttpError(503, 'open requests hold as much memory as the server allows');
    }
    this.#taken += bytes;
  }

  /** The request is over: it takes no more. */
  giveBack(): void {
    this.#isOver = true;
    this.#room.giveBack(this.#taken);
    this.#taken = 0;
  }
}

/**
 * Reads the body of a request, decompressing gzip and deflate; `maxBytes` bounds what comes out, and `memory` what all
 * requests hold. Rejects with HttpError: 413, 415 for another encoding, 400 for invalid compressed data, 503 without room.
 * Rejects with any error when the client has gone.
 */
export async function readDecoded(
  request: IncomingMessage,
  maxBytes: number,
  memory: RequestMemory,
): Promise<Buffer> {
  const take = (bytes: number): void => memory.take(bytes);
  const decoder = decoderOf(request);
  if (decoder === null) return readBody(request, maxBytes, take);
  request.once('error', (error) => decoder.destroy(error));
  try {
    return await readBody(request.pipe(decoder), maxBytes, take);
  } catch (error) {
    if (error instanceof HttpError) throw error;
    throw new HttpError(400, 'the body is not valid in its Content-Encoding');
  } finally {
    decoder.destroy();
  }
}

/** Null: the body is not compressed. Throws HttpError 415. */
function decoderOf({ headers }: IncomingMessage): Transform | null {
  switch (headers['content-encoding']?.toLowerCase() ?? 'identity') {
    case 'identity':
    case '':
      return null;
    case 'gzip':
    case 'x-gzip':
      return createGunzip();
    case 'deflate':
      return createInflate();
    default:
      throw new HttpError(415, 'the Content-Encoding of a body is gzip, deflate or identity');
  }
}
