import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { createFile, reopenFile } from '../../files/create-file.ts';
import { syncDirectory, writeAt } from '../../files/durable-write.ts';
import { RUN_FILES, segmentName } from '../../files/run-files.ts';

/** Position of a shard's bytes. */
export interface Placement {
  readonly segment: string;
  readonly offset: number;
}

/** Writes the segments of one epoch. */
export class SegmentWriter {
  readonly #logDir: string;
  readonly #epoch: number;
  readonly #maxBytes: number;
  #part = 1;
  /** Number of the newest part. */
  #created = 0;
  #end = 0;
  #open: { readonly part: number; readonly handle: FileHandle } | null = null;

  /** A new segment begins once the current one has at least `maxBytes`. */
  constructor(runDir: string, epoch: number, maxBytes: number) {
    this.#logDir = join(runDir, RUN_FILES.log);
    this.#epoch = epoch;
    this.#maxBytes = maxBytes;
  }

  /**
   * Writes a group and syncs it; only then advances the end. A failed group must be rewritten at the same position:
   * after a failed fdatasync the kernel may have dropped the dirty pages.
   */
  async write(group: readonly Buffer[]): Promise<Placement[]> {
    const placements: Placement[] = [];
    let part = this.#part;
    let end = this.#end;
    for (const bytes of group) {
      if (end >= this.#maxBytes) {
        part++;
        end = 0;
      }
      await writeAt(await this.#segment(part), bytes, end);
      placements.push({ segment: segmentName(this.#epoch, part), offset: end });
      end += bytes.length;
    }
    await this.#open?.handle.datasync();
    this.#part = part;
    this.#end = end;
    return placements;
  }

  async close(): Promise<void> {
    const open = this.#open;
    this.#open = null;
    await open?.handle.close();
  }

  async #segment(part: number): Promise<FileHandle> {
    if (this.#open?.part === part) return this.#open.handle;
    if (this.#open !== null) {
      await this.#open.handle.datasync();
      await this.close();
    }
    const path = join(this.#logDir, segmentName(this.#epoch, part));
    // A retried group reuses the segments it has already created.
    const handle = await (part > this.#created ? createFile(path) : reopenFile(path));
    this.#open = { part, handle };
    this.#created = Math.max(this.#created, part);
    await syncDirectory(this.#logDir);
    return handle;
  }
}
