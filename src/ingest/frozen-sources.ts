import type { SourceConfig } from '../config/run-config.ts';
import { placeInCorpus } from './corpus-roots.ts';
import { fileUnchanged } from './file-bytes.ts';
import { ManifestTable } from './manifest-table.ts';
import type { FileState, FrozenSource } from './plan-line.ts';

/** All sources of a run, for what reading one of them has to know of others. Holds one manifest at a time. */
export class FrozenSources {
  readonly #sources: readonly FrozenSource[];
  readonly #configs: readonly SourceConfig[];
  #manifest: { readonly index: number; readonly table: ManifestTable | null } | null = null;

  constructor(sources: readonly FrozenSource[], configs: readonly SourceConfig[]) {
    this.#sources = sources;
    this.#configs = configs;
  }

  /**
   * The manifest that says something of a source, or that the source is; undefined when there is none, null when it
   * changed since the run was created.
   */
  async manifestOf(source: FrozenSource, signal: AbortSignal): Promise<ManifestTable | null | undefined> {
    const index = source.manifest;
    if (index === null) return undefined;
    if (this.#manifest?.index !== index) {
      const manifest = this.#sources[index]!;
      const files = this.#filesOf(manifest.corpus);
      const config = this.#configs[manifest.corpus]!;
      const isThere = (relative: string): boolean => files.has(relative);
      this.#manifest = { index, table: await ManifestTable.read(manifest, config, isThere, signal) };
    }
    return this.#manifest.table;
  }

  /**
   * Whether a source is as it was when the run was created, and, if it is one item as a whole, what says something of
   * it: rows have their ids and texts in themselves.
   */
  async unchanged(source: FrozenSource, isWholeFile: boolean): Promise<boolean> {
    const { sidecar, manifest } = source;
    const files: (FileState & { readonly absolute: string })[] = [source];
    if (isWholeFile && sidecar !== null) files.push(sidecar);
    if (isWholeFile && manifest !== null) files.push(this.#sources[manifest]!);
    for (const file of files) if (!(await fileUnchanged(file))) return false;
    return true;
  }

  /** Paths below a corpus of all its files, sidecars included. */
  #filesOf(corpus: number): Set<string> {
    const files = new Set<string>();
    for (const source of this.#sources) {
      if (source.corpus !== corpus) continue;
      files.add(placeInCorpus(source).path);
      if (source.sidecar !== null) files.add(placeInCorpus(source.sidecar).path);
    }
    return files;
  }
}
