import { dirname } from 'node:path';
import type { SourceConfig } from '../../config/run-config.ts';
import { Failure } from '../../domain/failure.ts';
import { frozenState } from '../sources/file-bytes.ts';
import type { FilePlace } from '../sources/file-place.ts';
import { isManifest, MAX_MANIFEST_BYTES, MANIFEST_NAMES } from '../recognise/manifest-table.ts';
import { isSidecarName, stem } from './sidecars.ts';
import { SkippedFiles } from './walk/skipped-files.ts';
import { type Role, walkFolder } from './walk/walk-folder.ts';

/** A file of a corpus, or beside it; paths in the recorded form. */
export interface FoundName extends FilePlace {
  /** Below the corpus, with `/`. */
  readonly relative: string;
}

/** Whether a file may say something of others of its corpus, by its path below it. */
export function describesOthers(relative: string): boolean {
  return isSidecarName(relative) || MANIFEST_NAMES.includes(relative);
}

/** What may describe the files that were named, folder by folder: many files are often named in one. */
export class Neighbours {
  /** Of a folder, by what their names begin with. */
  readonly #folders = new Map<string, ReadonlyMap<string, readonly FoundName[]>>();
  readonly #manifests = new Map<string, FoundName | null>();

  /** Texts that may describe a file of a folder. */
  async describing({ relative }: FoundName, folder: string, signal: AbortSignal): Promise<FoundName[]> {
    const beside = (await this.#of(folder, signal)).get(stem(relative)) ?? [];
    return beside.filter((text) => text.relative !== relative);
  }

  /** The manifest in the folder of a file that was named. */
  async manifestFor(config: SourceConfig, signal: AbortSignal): Promise<FoundName | null> {
    const folder = dirname(config.path);
    const key = JSON.stringify([folder, config.encoding]);
    if (!this.#manifests.has(key)) {
      const names = new Set(MANIFEST_NAMES.map((name) => stem(name)));
      const beside = await this.#of(folder, signal);
      const candidates = [...names].flatMap((name) => beside.get(name) ?? []);
      this.#manifests.set(key, await findManifest(candidates, config, signal));
    }
    return this.#manifests.get(key)!;
  }

  async #of(folder: string, signal: AbortSignal): Promise<ReadonlyMap<string, readonly FoundName[]>> {
    let byStem = this.#folders.get(folder);
    if (byStem === undefined) {
      const roleOf = (relative: string): Role => (describesOthers(relative) ? 'beside' : null);
      const { beside } = await walkFolder(folder, new SkippedFiles(), signal, { roleOf, isDeep: false });
      const grouped = new Map<string, FoundName[]>();
      for (const file of beside) {
        const group = grouped.get(stem(file.relative)) ?? [];
        grouped.set(stem(file.relative), [...group, file]);
      }
      byStem = grouped;
      this.#folders.set(folder, byStem);
    }
    return byStem;
  }
}

/**
 * The list of its files that a corpus brings with it. Failure('usage') for one that is too large to be held while the
 * corpus is read.
 */
export async function findManifest(
  files: readonly FoundName[],
  config: SourceConfig,
  signal: AbortSignal,
): Promise<FoundName | null> {
  for (const name of MANIFEST_NAMES) {
    const file = files.find(({ relative }) => relative === name);
    if (file === undefined || !(await isManifest(file, config, signal))) continue;
    const { bytes } = await frozenState(file.absolute);
    if (bytes <= MAX_MANIFEST_BYTES) return file;
    throw new Failure(
      'usage',
      `${name} beside ${JSON.stringify(config.given)} is larger than ${MAX_MANIFEST_BYTES} bytes: divide the corpus`,
    );
  }
  return null;
}
