import { createHash } from 'node:crypto';

/** SHA-256 hashes of a guard's deployed artifacts by name, and an id over all of them. */
export interface Fingerprint {
  /** `sha256:` and 64 hex digits: the SHA-256 of the canonical form. */
  readonly id: string;
  /** Artifact name to 64 lower-case hex digits, in bytewise order of name. */
  readonly artifacts: Readonly<Record<string, string>>;
}

const SHA256_HEX = /^[0-9a-f]{64}$/i;

/**
 * Canonical form: one line per artifact, with the name, a space, the hash in lower case and a newline, sorted bytewise by
 * name. It does not depend on the order and notation of the guard's reply.
 * Returns null if there is no artifact, if a name is empty, has leading or trailing white space or contains a line
 * break, or if a value is not a SHA-256.
 */
export function makeFingerprint(
  hashes: Iterable<readonly [name: string, sha256: string]>,
): Fingerprint | null {
  const entries: [string, string][] = [];
  for (const [name, sha256] of hashes) {
    const hex = sha256.replace(/^sha256:/i, '');
    if (name === '' || name !== name.trim() || /[\r\n]/.test(name) || !SHA256_HEX.test(hex)) return null;
    entries.push([name, hex.toLowerCase()]);
  }
  if (entries.length === 0) return null;
  entries.sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const form = entries.map(([name, hex]) => `${name} ${hex}\n`).join('');
  const id = `sha256:${createHash('sha256').update(form).digest('hex')}`;
  return { id, artifacts: Object.fromEntries(entries) };
}
