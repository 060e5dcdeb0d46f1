import { fstatSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import type { SourceConfig } from '../../config/run-config.ts';
import { decodePath } from '../../domain/file-path.ts';
import { isInMemory } from '../../files/file-state.ts';
import { fileUnchanged } from './file-bytes.ts';
import { ManifestTable } from '../recognise/manifest-table.ts';
import { configOf, type FileSnapshot, type SidecarSnapshot, type SourceSnapshot } from './sources-file.ts';

/** All sources of a run: reading a source may require others, such as its manifest. Caches one manifest at a time. */
export class SourceSnapshots {
  readonly #sources: readonly SourceSnapshot[];
  readonly #configs: readonly SourceConfig[];
  #manifest: { readonly key: string; readonly table: ManifestTable | null } | null = null;

  /** Whether the file system of a device is in memory, by device number. */
  readonly #inMemory = new Map<number, Promise<boolean>>();

  constructor(sources: readonly SourceSnapshot[], configs: readonly SourceConfig[]) {
    this.#sources = sources;
    this.#configs = configs;
  }

  /**
   * The manifest that a source is listed in, or that it is itself; undefined if there is none, null if it changed after
   * the run was created.
   */
  async manifestOf(source: SourceSnapshot, signal: AbortSignal): Promise<ManifestTable | null | undefined> {
    const list = this.#listOf(source);
    if (list === null) return undefined;
    const isSource = typeof source.manifest === 'number';
    // A manifest is always read in the same way, whatever the settings of the files that it lists.
    const config = configOf(
      isSource ? this.#sources[source.manifest]! : { corpus: source.corpus },
      this.#configs,
    );
    const key = JSON.stringify([list.absolute, isSource, config.encoding]);
    if (this.#manifest?.key !== key) {
      // A manifest that is not a source may list files that are not sources either. Its rows are not items.
      const files = isSource ? this.#files() : null;
      const isListed = (absolute: string): boolean => files === null || files.has(absolute);
      this.#manifest = { key, table: await ManifestTable.read(list, config, isListed, signal) };
    }
    return this.#manifest.table;
  }

  /** Whether a source is on a file system in memory. Determined once for each device. */
  isInMemory({ fd }: FileHandle, { absolute }: SourceSnapshot): Promise<boolean> {
    const { dev } = fstatSync(fd);
    const known = this.#inMemory.get(dev);
    if (known !== undefined) return known;
    const asked = isInMemory(decodePath(absolute));
    this.#inMemory.set(dev, asked);
    return asked;
  }

  /**
   * Whether a source is unchanged since the run was created. For a whole-file item this includes its sidecar and its
   * manifest; rows contain their own ids and texts.
   */
  async unchanged(source: SourceSnapshot, isWholeFile: boolean, signal: AbortSignal): Promise<boolean> {
    const { sidecar } = source;
    const list = this.#listOf(source);
    const files: (FileSnapshot & { readonly absolute: string })[] = [source];
    if (isWholeFile && sidecar !== null) files.push(sidecar);
    if (isWholeFile && list !== null) files.push(list);
    for (const file of files) if (!(await fileUnchanged(file, signal))) return false;
    return true;
  }

  #listOf({ manifest }: SourceSnapshot): SidecarSnapshot | null {
    return typeof manifest === 'number' ? this.#sources[manifest]! : manifest;
  }

  /** Absolute paths of all files, sidecars included. */
  #files(): ReadonlySet<string> {
    const sidecars = this.#sources.flatMap(({ sidecar }) => (sidecar === null ? [] : [sidecar.absolute]));
    return new Set([...sidecars, ...this.#sources.map(({ absolute }) => absolute)]);
  }
}
