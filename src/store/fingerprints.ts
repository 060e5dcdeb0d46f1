import { makeFingerprint, type Fingerprint } from '../domain/fingerprint.ts';
import type { Environment, Table } from './environment.ts';

/** Models kept in memory: a store has the verdicts of a few. */
const MAX_CACHED = 256;

/** The full fingerprints of the models whose verdicts are stored. An id is a hash, so each is its own check. */
export class Fingerprints {
  readonly #environment: Environment;
  readonly #table: Table;
  readonly #cache = new Map<string, Fingerprint>();

  constructor(environment: Environment) {
    this.#environment = environment;
    this.#table = environment.table('fingerprints');
  }

  /** Stores a fingerprint as a part of the write that is being filled. */
  put({ id, artifacts }: Fingerprint): void {
    this.#environment.put(this.#table, Buffer.from(id), Buffer.from(JSON.stringify(artifacts)));
  }

  /** All that are intact. */
  all(): Fingerprint[] {
    return [...this.#table.getRange()].flatMap(({ value }) => fingerprintOf(value) ?? []);
  }

  /** The fingerprint with this id; null when it is missing or damaged. */
  get(id: string): Fingerprint | null {
    const cached = this.#cache.get(id);
    if (cached !== undefined) return cached;
    const fingerprint = fingerprintOf(this.#environment.get(this.#table, Buffer.from(id)));
    if (fingerprint?.id !== id) return null;
    if (this.#cache.size >= MAX_CACHED) this.#cache.clear();
    this.#cache.set(id, fingerprint);
    return fingerprint;
  }
}

function fingerprintOf(json: Buffer | null): Fingerprint | null {
  if (json === null) return null;
  try {
    return makeFingerprint(Object.entries(JSON.parse(json.toString()) as Record<string, string>));
  } catch {
    return null;
  }
}
