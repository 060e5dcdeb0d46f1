import { fstatSync, type BigIntStats } from 'node:fs';
import { statfs, type FileHandle } from 'node:fs/promises';

/** File identity and timestamps, used to detect changes. */
export interface FileState extends Pick<BigIntStats, 'dev' | 'ino' | 'size' | 'mtimeNs' | 'ctimeNs'> {
  /** When the state was read, in milliseconds since 1970. */
  readonly seenMs: number;
}

/** Returns the current state of an open file. */
export function fileState({ fd }: Pick<FileHandle, 'fd'>): FileState {
  const seenMs = Date.now();
  const { dev, ino, size, mtimeNs, ctimeNs } = fstatSync(fd, { bigint: true });
  return { dev, ino, size, mtimeNs, ctimeNs, seenMs };
}

/** Whether the file was not written to between two readings of its state, judging by its timestamps. */
export function isSameState(a: FileState, b: FileState): boolean {
  return (
    a.dev === b.dev &&
    a.ino === b.ino &&
    a.size === b.size &&
    a.mtimeNs === b.mtimeNs &&
    a.ctimeNs === b.ctimeNs
  );
}

/** File systems that keep their files in memory: tmpfs and ramfs. Numbers from statfs(2). */
const IN_MEMORY: ReadonlySet<number> = new Set([0x0102_1994, 0x8584_58f6]);

/**
 * Whether a file is kept in memory only. There, writes through a mapping do not change its timestamps, because nothing
 * is ever written back to a disk. False if unknown.
 */
export async function isInMemory(path: string | Buffer): Promise<boolean> {
  return statfs(path).then(
    ({ type }) => IN_MEMORY.has(type),
    () => false,
  );
}
