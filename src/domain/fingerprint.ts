import { createHash } from 'node:crypto';

/**
 * The identity of the model that a guard runs: SHA-256 hashes of its deployed artifacts by name, and an id over all of
 * them. A guard that cannot prove its artifacts has a declaration instead: values that it states about itself, under an
 * id of a different form.
 */
export interface Fingerprint {
  /** `sha256:`, or `declared:` for a declaration, and the SHA-256 of the canonical form in 64 hex digits. */
  readonly id: string;
  /** Artifact name to 64 lower-case hex digits, or declared name to value; in bytewise order of name. */
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
  return entries.length === 0 ? null : withId('sha256', entries);
}

const DECLARED = 'declared';

/** Whether an id is that of a declaration. */
export function isDeclared(id: string): boolean {
  return id.startsWith(`${DECLARED}:`);
}

/** Names and values in a declaration: printable ASCII, since they are recorded and shown. */
const DECLARED_NAME = /^[a-z][a-z0-9-]{0,39}$/;
const DECLARED_VALUE = /^[\x20-\x7e]{1,200}$/;

/**
 * Builds a declaration: the canonical form of a fingerprint, with values in place of hashes. Returns null if there is no
 * `family`, or if a name or a value is not plain.
 */
export function makeDeclaration(
  values: Iterable<readonly [name: string, value: string]>,
): Fingerprint | null {
  const entries = [...values];
  const isPlain = entries.every(([name, value]) => DECLARED_NAME.test(name) && DECLARED_VALUE.test(value));
  const hasFamily = entries.some(([name]) => name === 'family');
  return isPlain && hasFamily ? withId(DECLARED, entries) : null;
}

/** Rebuilds a fingerprint or declaration from its recorded entries; null if they are neither. */
export function restoreFingerprint(artifacts: Fingerprint['artifacts']): Fingerprint | null {
  const entries = Object.entries(artifacts);
  return makeFingerprint(entries) ?? makeDeclaration(entries);
}

function withId(scheme: string, entries: readonly (readonly [name: string, value: string])[]): Fingerprint {
  const sorted = [...entries].sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const form = sorted.map(([name, value]) => `${name} ${value}\n`).join('');
  const id = `${scheme}:${createHash('sha256').update(form).digest('hex')}`;
  return { id, artifacts: Object.fromEntries(sorted) };
}
