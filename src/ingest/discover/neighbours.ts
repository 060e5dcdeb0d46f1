import { dirname } from 'node:path';
import type { SourceConfig } from '../../config/run-config.ts';
import { Failure } from '../../domain/failure.ts';
import { snapshotFile } from '../sources/file-bytes.ts';
import type { FileLocation } from '../sources/file-place.ts';
import { isManifest, MAX_MANIFEST_BYTES, MANIFEST_NAMES } from '../recognise/manifest-table.ts';
import { isSidecarName, stem } from './sidecars.ts';
import { SkippedFiles } from './walk/skipped-files.ts';
import { type FileRole, walkFolder } from './walk/walk-folder.ts';

/** A file of a corpus or next to it; paths are encoded. */
export interface FoundName extends FileLocation {
  /** Below the corpus, with `/`. */
  readonly relative: string;
}

/** Whether a file may describe others of its corpus, by its path below the corpus. */
export function describesOthers(relative: string): boolean {
  return isSidecarName(relative) || MANIFEST_NAMES.includes(relative);
}

/** Files that may describe named files. Each folder is read once, as users often name many files of one folder. */
export class Neighbours {
  /** Folder to its files that may describe others, by `stem`. */
  readonly #folders = new Map<string, ReadonlyMap<string, readonly FoundName[]>>();
  readonly #manifests = new Map<string, FoundName | null>();

  /** The files that may describe a file of a folder. */
  async describing({ relative }: FoundName, folder: string, signal: AbortSignal): Promise<FoundName[]> {
    const beside = (await this.#readFolder(folder, signal)).get(stem(relative)) ?? [];
    return beside.filter((text) => text.relative !== relative);
  }

  /** The manifest in the folder of a named file. */
  async manifestFor(config: SourceConfig, signal: AbortSignal): Promise<FoundName | null> {
    const folder = dirname(config.path);
    const key = JSON.stringify([folder, config.encoding]);
    if (!this.#manifests.has(key)) {
      const names = new Set(MANIFEST_NAMES.map((name) => stem(name)));
      const beside = await this.#readFolder(folder, signal);
      const candidates = [...names].flatMap((name) => beside.get(name) ?? []);
      this.#manifests.set(key, await findManifest(candidates, config, signal));
    }
    return this.#manifests.get(key)!;
  }

  async #readFolder(folder: string, signal: AbortSignal): Promise<ReadonlyMap<string, readonly FoundName[]>> {
    let byStem = this.#folders.get(folder);
    if (byStem === undefined) {
      const roleOf = (relative: string): FileRole => (describesOthers(relative) ? 'beside' : null);
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
 * Finds the manifest among the files of a corpus. Failure('usage') if it is too large to be kept in memory while the
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
    const { bytes } = await snapshotFile(file.absolute, signal);
    if (bytes <= MAX_MANIFEST_BYTES) return file;
    throw new Failure(
      'usage',
      `${name} of ${JSON.stringify(config.given)} is larger than ${MAX_MANIFEST_BYTES} bytes: divide the corpus`,
    );
  }
  return null;
}
