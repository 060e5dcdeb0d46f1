import { hash } from 'node:crypto';

/** Bytes of a request's id by which it is found: enough that no two requests share them. */
const KEY_BYTES = 16;

/** What one line of a request file asks. */
export interface BatchRequest {
  readonly path: string;
  readonly json: string;
  /** Its `custom_id`: the SHA-256 of path and body, 64 hex digits. Equal requests have the same. */
  readonly id: string;
}

export function batchRequest(path: string, body: object): BatchRequest {
  const json = JSON.stringify(body);
  return { path, json, id: hash('sha256', `${path}\n${json}`) };
}

/** The beginning of an id, as a short text to be held by the million; null for what is no id. */
export function keyOf(id: string): string | null {
  return /^[0-9a-f]{64}$/.test(id) ? Buffer.from(id, 'hex').toString('latin1', 0, KEY_BYTES) : null;
}

/** The keys in a file of them, in its order. */
export function* keysIn(bytes: Buffer): Generator<string> {
  for (let at = 0; at + KEY_BYTES <= bytes.length; at += KEY_BYTES)
    yield bytes.toString('latin1', at, at + KEY_BYTES);
}
