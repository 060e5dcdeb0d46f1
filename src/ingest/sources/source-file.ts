import { fstatSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import type { RangeReader } from '../../files/read-fully.ts';
import type { FileSnapshot } from './sources-file.ts';

/** A source that is open for reading by byte ranges: a file, or an object in object storage. */
export interface SourceFile extends RangeReader {
  /**
   * Current size, times and identity of a file; for an object, those when it was opened, which apply to all its ranges.
   */
  state(): FileSnapshot;
  /** The open file itself; null for an object. */
  readonly local: FileHandle | null;
  /**
   * A descriptor with the whole content, for a process that reads files: the file's, or that of an unnamed copy of the
   * object. It is closed with this.
   */
  descriptor(): Promise<FileHandle>;
  close(): Promise<void>;
}

/** An open file. */
export class LocalFile implements SourceFile {
  readonly local: FileHandle;

  constructor(handle: FileHandle) {
    this.local = handle;
  }

  state(): FileSnapshot {
    // An open file's state is available immediately; a thread of the pool would cost ten times as much.
    const { size, mtimeMs, ctimeMs, ino } = fstatSync(this.local.fd);
    return { bytes: size, mtime_ms: mtimeMs, ctime_ms: ctimeMs, inode: ino };
  }

  async read(
    target: Buffer,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ readonly bytesRead: number }> {
    return this.local.read(target, offset, length, position);
  }

  async descriptor(): Promise<FileHandle> {
    return this.local;
  }

  close(): Promise<void> {
    return this.local.close();
  }
}
