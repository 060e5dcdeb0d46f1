import { createHash, type Hash } from 'node:crypto';

/**
 * SHA-256 of the bytes of a file as they are read. Whether it is wanted is only known once the first of them were
 * looked at; until then they are kept.
 */
export class FileHash {
  #kept: Buffer[] | null = [];
  #hash: Hash | null = null;

  add(piece: Buffer): void {
    this.#hash?.update(piece);
    this.#kept?.push(piece);
  }

  /** Hashes what came and what comes. */
  begin(): void {
    this.#hash = createHash('sha256');
    for (const piece of this.#kept ?? []) this.#hash.update(piece);
    this.#kept = null;
  }

  /** Hashes nothing and keeps nothing. */
  leave(): void {
    this.#kept = null;
  }

  /** 64 hex digits. */
  digest(): string {
    return this.#hash!.digest('hex');
  }
}
