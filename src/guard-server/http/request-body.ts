import type { IncomingMessage } from 'node:http';
import type { Transform } from 'node:stream';
import { createGunzip, createInflate } from 'node:zlib';
import type { z } from 'zod';
import { HttpError } from '../../http/http-error.ts';
import { readBody } from '../../http/read-body.ts';
import { invalidRequest, shortened } from '../contract/request-error.ts';

/** Max bytes of a body, decompressed: the default of Triton's `--http-max-input-size`. */
export const MAX_BODY_BYTES = 64 * 1024 * 1024;

/**
 * Reads the body of a request and decompresses gzip and deflate. Rejects with HttpError: 413 for more than
 * MAX_BODY_BYTES, 415 for another encoding, 400 for invalid compressed data. Rejects with any error when the client has
 * disconnected.
 */
export async function readDecompressedBody(request: IncomingMessage): Promise<Buffer> {
  const decoder = createDecoder(request.headers['content-encoding']);
  if (decoder === null) return readBody(request, MAX_BODY_BYTES);
  request.once('error', (error) => decoder.destroy(error));
  try {
    return await readBody(request.pipe(decoder), MAX_BODY_BYTES);
  } catch (error) {
    if (error instanceof HttpError) throw error;
    throw new HttpError(400, 'the body is not valid in its Content-Encoding');
  } finally {
    decoder.destroy();
  }
}

/** Creates a decoder; null if the body is not compressed. Throws HttpError 415. */
function createDecoder(contentEncoding = 'identity'): Transform | null {
  switch (contentEncoding.toLowerCase()) {
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

/**
 * Parses and validates JSON. Throws RequestError INVALID_REQUEST, which names the invalid member and quotes no value.
 */
export function parseJson<Schema extends z.ZodType>(json: Buffer, schema: Schema): z.infer<Schema> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(json));
  } catch {
    throw invalidRequest('', 'the body is not JSON in UTF-8');
  }
  const { success, data, error } = schema.safeParse(parsed);
  if (success) return data;
  const { path, message } = error.issues[0]!;
  throw invalidRequest('', shortened(`${path.join('.') || 'the body'}: ${message}`));
}
