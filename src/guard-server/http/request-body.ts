import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { createGunzip, createInflate } from 'node:zlib';
import { CollectedBytes } from '../../http/collected-bytes.ts';
import type { CallMemory } from '../service/call-memory.ts';
import { CLOSES, HttpError } from './status.ts';

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
      throw new HttpError(503, 'open requests hold as much memory as the server allows', CLOSES);
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
 * Rejects with another error when the client has gone.
 */
export function readBody(request: IncomingMessage, maxBytes: number, memory: RequestMemory): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const bytes = new CollectedBytes();
    const body = decoded(request);
    const fail = (error: Error): void => {
      body.off('data', take);
      if (body !== request) body.destroy();
      reject(error);
    };
    const take = (chunk: Buffer): void => {
      try {
        if (bytes.length + chunk.length > maxBytes)
          throw new HttpError(413, `the body has more than ${maxBytes} bytes`, CLOSES);
        memory.take(chunk.length);
        bytes.add(chunk);
      } catch (error) {
        fail(error as Error);
      }
    };
    body.on('data', take);
    body.once('end', () => resolve(bytes.joined()));
    body.on('error', (error) => {
      fail(
        body === request
          ? error
          : new HttpError(400, 'the body is not valid in its Content-Encoding', CLOSES),
      );
    });
    request.on('error', fail);
  });
}

/** Throws HttpError 415. */
function decoded(request: IncomingMessage): Readable {
  const encoding = request.headers['content-encoding']?.toLowerCase() ?? 'identity';
  switch (encoding) {
    case 'identity':
    case '':
      return request;
    case 'gzip':
    case 'x-gzip':
      return request.pipe(createGunzip());
    case 'deflate':
      return request.pipe(createInflate());
    default:
      throw new HttpError(415, 'the Content-Encoding of a body is gzip, deflate or identity');
  }
}
