import { fstatSync, type BigIntStats } from 'node:fs';
import { statfs, type FileHandle } from 'node:fs/promises';

/** What tells that a file is the one that was read before. */
export interface FileState extends Pick<BigIntStats, 'dev' | 'ino' | 'size' | 'mtimeNs' | 'ctimeNs'> {
  /** When the state was read, in milliseconds since 1970. */
  readonly seenMs: number;
}

/** The state of an open file now. */
export function fileState({ fd }: Pick<FileHandle, 'fd'>): FileState {
  const seenMs = Date.now();
  const { dev, ino, size, mtimeNs, ctimeNs } = fstatSync(fd, { bigint: true });
  return { dev, ino, size, mtimeNs, ctimeNs, seenMs };
}

/** Whether nothing was written to the file between two looks at it, as far as its times tell. */
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
 * Whether a file is kept in memory only. There, what is written through a mapping shows in no time of the file: nothing
 * is ever written back to a disk. False where that cannot be found out.
 */
export async function isInMemory(path: string | Buffer): Promise<boolean> {
  return statfs(path).then(
    ({ type }) => IN_MEMORY.has(type),
    () => false,
  );
}
