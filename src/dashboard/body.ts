import { isUtf8 } from 'node:buffer';
import type { z } from 'zod';
import { isNestedTooDeeply } from '../formats/json/json-record.ts';
import { DashboardError } from './errors.ts';

/** Parses a JSON body; undefined for an empty one. */
export function parseBody(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined;
  if (!isUtf8(bytes) || isNestedTooDeeply(bytes)) throw notJson();
  try {
    return JSON.parse(bytes.toString());
  } catch {
    throw notJson();
  }
}

/** Validates the body of a request. INVALID_REQUEST names the first invalid key. */
export function parseRequestBody<T extends z.ZodType>(schema: T, body: unknown): z.output<T> {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const key = String(parsed.error.issues[0]?.path[0] ?? '');
  const field = /^\w{1,64}$/.test(key) ? key : undefined;
  const where = field === undefined ? 'the body' : `${field} in the body`;
  throw new DashboardError('INVALID_REQUEST', `${where} is not as this request needs it`, field);
}

function notJson(): DashboardError {
  return new DashboardError('INVALID_REQUEST', 'the body is not JSON');
}
