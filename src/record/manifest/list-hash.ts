import { createHash } from 'node:crypto';
import type { FileEntry } from './manifest.ts';
import { RUN_FILES, commitsName } from '../../files/run-files.ts';

/** SHA-256 of a list of the manifest: its entries as JSON, one per line. `jq -c '.sources[]'` prints the same bytes. */
export class ListHash {
  readonly #hash = createHash('sha256');

  add(entries: readonly object[]): void {
    for (const entry of entries) this.#hash.update(`${JSON.stringify(entry)}\n`);
  }

  /** 64 hex digits. May be called once. */
  digest(): string {
    return this.#hash.digest('hex');
  }
}

/**
 * The hash of the manifest's `files` in the closing line of an epoch. It leaves out the commits file that holds this line
 * and the summary, which names the hash of this line: the chain determines both.
 */
export function filesHash(files: readonly FileEntry[], epoch: number): string {
  const hash = new ListHash();
  const own = `${RUN_FILES.log}/${commitsName(epoch)}`;
  hash.add(files.filter(({ path }) => path !== own && path !== RUN_FILES.summary));
  return hash.digest();
}
