import { dirname, join } from 'node:path';
import type { SourceConfig } from '../config/run-config.ts';
import { fileUnchanged } from './file-bytes.ts';
import { ManifestTable } from './manifest-table.ts';
import type { FileState, FrozenSidecar, FrozenSource } from './plan-line.ts';

/** All sources of a run, for what reading one of them has to know of others. Holds one manifest at a time. */
export class FrozenSources {
  readonly #sources: readonly FrozenSource[];
  readonly #configs: readonly SourceConfig[];
  #manifest: { readonly key: string; readonly table: ManifestTable | null } | null = null;

  constructor(sources: readonly FrozenSource[], configs: readonly SourceConfig[]) {
    this.#sources = sources;
    this.#configs = configs;
  }

  /**
   * The manifest that says something of a source, or that the source is; undefined when there is none, null when it
   * changed since the run was created.
   */
  async manifestOf(source: FrozenSource, signal: AbortSignal): Promise<ManifestTable | null | undefined> {
    const list = this.#listOf(source);
    if (list === null) return undefined;
    const config = this.#configs[source.corpus]!;
    const isSource = typeof source.manifest === 'number';
    const key = JSON.stringify([list.absolute, isSource, config.encoding]);
    if (this.#manifest?.key !== key) {
      const files = isSource ? this.#files() : null;
      const folder = dirname(list.absolute);
      // A list that was not asked for may also list what was not.
      const isThere = (relative: string): boolean => files?.has(join(folder, relative)) ?? true;
      this.#manifest = { key, table: await ManifestTable.read(list, config, isThere, signal) };
    }
    return this.#manifest.table;
  }

  /**
   * Whether a source is as it was when the run was created, and, if it is one item as a whole, what says something of
   * it: rows have their ids and texts in themselves.
   */
  async unchanged(source: FrozenSource, isWholeFile: boolean): Promise<boolean> {
    const { sidecar } = source;
    const list = this.#listOf(source);
    const files: (FileState & { readonly absolute: string })[] = [source];
    if (isWholeFile && sidecar !== null) files.push(sidecar);
    if (isWholeFile && list !== null) files.push(list);
    for (const file of files) if (!(await fileUnchanged(file))) return false;
    return true;
  }

  #listOf({ manifest }: FrozenSource): FrozenSidecar | null {
    return typeof manifest === 'number' ? this.#sources[manifest]! : manifest;
  }

  /** Absolute paths of all files, sidecars included: a file that is listed may have been named by itself. */
  #files(): ReadonlySet<string> {
    const files = new Set<string>();
    for (const { absolute, sidecar } of this.#sources) {
      files.add(absolute);
      if (sidecar !== null) files.add(sidecar.absolute);
    }
    return files;
  }
}
