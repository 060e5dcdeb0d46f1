import { isUtf8 } from 'node:buffer';
import { hasRepeatedNames, isNestedTooDeeply } from '../../formats/json/json-record.ts';
import { isBlank } from '../../formats/transcripts/draft.ts';
import { ApiError } from '../api/errors.ts';
import { textRequest } from '../api/schemas.ts';

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
