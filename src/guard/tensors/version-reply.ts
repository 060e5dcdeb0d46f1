import { type Fingerprint, makeFingerprint } from '../../domain/fingerprint.ts';
import type { InferResponse } from './protocol.ts';
import { countBytes, decodeBytes } from './raw.ts';

/** Max size of a version output to read, in bytes. */
const MAX_VERSION_BYTES = 1024 * 1024;
/** Max strings in a version output, with one string per artifact. */
const MAX_VERSION_ELEMENTS = 4096;

const HASH_LENGTH = 64;
const HASH = /^[0-9a-f]{64}$/i;
const PREFIX = 'sha256:';

/**
 * The fingerprint in a `version` reply; null when there is none. The contract names neither the output nor its layout,
 * so this takes the first BYTES output with a JSON object of artifact name to SHA-256, or with lines of name and
 * SHA-256.
 */
export function decodeVersionReply(reply: InferResponse): Fingerprint | null {
  if (reply.outputs.length !== reply.raw_output_contents.length) return null;
  for (const [index, output] of reply.outputs.entries()) {
    const raw = reply.raw_output_contents[index]!;
    if (output.datatype !== 'BYTES' || raw.length > MAX_VERSION_BYTES) continue;
    const count = countBytes(raw);
    if (count === null || count > MAX_VERSION_ELEMENTS) continue;
    const elements = decodeBytes(raw)!;
    const fingerprint = parseHashes(elements.map((element) => element.toString('utf8')).join('\n'));
    if (fingerprint !== null) return fingerprint;
  }
  return null;
}

function parseHashes(text: string): Fingerprint | null {
  const trimmed = text.trim();
  return trimmed.startsWith('{') ? parseJson(trimmed) : parseLines(trimmed);
}

function parseJson(text: string): Fingerprint | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null) return null;
  const entries = Object.entries(value as Record<string, unknown>);
  if (!entries.every((entry): entry is [string, string] => typeof entry[1] === 'string')) return null;
  return makeFingerprint(entries);
}

function parseLines(text: string): Fingerprint | null {
  const entries: [string, string][] = [];
  for (const line of text.split(/\r?\n/)) {
    if (line.trim() === '') continue;
    const entry = parseLine(line.trim());
    if (entry === null) return null;
    entries.push(entry);
  }
  return makeFingerprint(entries);
}

/** Parses `name hash`, `name: hash` or `name:hash`; the hash may have the prefix `sha256:`. Null for anything else. */
function parseLine(line: string): [name: string, hash: string] | null {
  const hash = line.slice(-HASH_LENGTH);
  if (!HASH.test(hash)) return null;
  const before = line.slice(0, -HASH_LENGTH);
  const isPrefixed = before.toLowerCase().endsWith(PREFIX);
  const name = isPrefixed ? nameBefore(before.slice(0, -PREFIX.length)) : null;
  if (name !== null) return [name, before.slice(-PREFIX.length) + hash];
  const bare = nameBefore(before);
  return bare === null ? null : [bare, hash];
}

/** The text before a trailing separator, which is a colon or white space. Null if there is none. */
function nameBefore(text: string): string | null {
  const trimmed = text.trimEnd();
  if (trimmed.endsWith(':')) return trimmed.slice(0, -1).trimEnd();
  return trimmed.length < text.length ? trimmed : null;
}
