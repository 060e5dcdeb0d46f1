import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { hasRepeatedNames, isNestedTooDeeply } from '../../formats/json/json-record.ts';
import type { Readable } from 'node:stream';
import { CollectedBytes } from '../../http/collected-bytes.ts';
import { isBlank } from '../../formats/transcripts/draft.ts';
import { ApiError } from '../api/errors.ts';
import { textRequest } from '../api/schemas.ts';
import { MAX_TEXT_BODY_BYTES } from '../limits.ts';

/** Reads a body. Rejects with an ApiError when it is too large, and as the stream does. */
export async function readTextBody(
  payload: Readable,
  { 'content-length': declared = '0' }: IncomingHttpHeaders,
): Promise<Buffer> {
  if (Number(declared) > MAX_TEXT_BODY_BYTES) throw TOO_LARGE;
  const bytes = new CollectedBytes();
  // A stream that is destroyed would take the connection, and the reply, with it.
  for await (const chunk of payload.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    if (bytes.length + chunk.length > MAX_TEXT_BODY_BYTES) throw TOO_LARGE;
    bytes.add(chunk);
  }
  return bytes.joined();
}

const TOO_LARGE = new ApiError('ITEM_TOO_LARGE', 'the body is too large for a text');

/** The text in the body of a request: `{"text": "..."}` in UTF-8. Throws an ApiError. */
export function textOf(body: Buffer): string {
  if (body.length === 0) throw new ApiError('MISSING_PAYLOAD', 'the request has no body');
  if (!isUtf8(body)) throw new ApiError('INVALID_ENCODING', 'the body is not UTF-8');
  if (isNestedTooDeeply(body)) throw new ApiError('INVALID_REQUEST', 'the body is nested too deeply');
  const json = body.toString();
  const value = parsed(json);
  const request = textRequest.safeParse(value);
  if (request.success && Object.keys(value as object).length === 1) {
    const { text } = request.data;
    if (hasRepeatedNames(json, value)) throw new ApiError('INVALID_REQUEST', 'the body has its field twice');
    if (isBlank(text)) throw new ApiError('EMPTY_CONTENT', 'the text is blank');
    return text;
  }
  if (isObject(value) && !Object.hasOwn(value, 'text')) {
    throw new ApiError('MISSING_PAYLOAD', 'the body has no field text');
  }
  throw new ApiError('INVALID_REQUEST', 'the body must be an object with one field, text, that is a string');
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw new ApiError('INVALID_REQUEST', 'the body is not JSON');
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
