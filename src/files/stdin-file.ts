import { randomBytes } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { Failure } from '../domain/failure.ts';
import { createFile, DIRECTORY_MODE } from './create-file.ts';
import { makeFolders } from './durable-write.ts';
import { RUN_FILES } from './run-files.ts';

/**
 * Stdin is first read into a file, because a resumed run reads its sources again. The folder of the file becomes the
 * run directory, so the file itself is not renamed and keeps its times.
 */
const FOLDER = /^\.stdin-[0-9a-f]{8}$/;

/** Creates a path for the file of a new run in `out`. */
export function newStdinPath(out: string): string {
  return join(out, `.stdin-${randomBytes(4).toString('hex')}`, RUN_FILES.stdin);
}

/** Whether a path was returned by `newStdinPath(out)`. */
export function isNewStdinPath(path: string, out: string): boolean {
  const folder = dirname(path);
  return basename(path) === RUN_FILES.stdin && FOLDER.test(basename(folder)) && dirname(folder) === out;
}

/**
 * Reads all of stdin into a new file. If that fails, removes the file and rejects with the signal's reason, or with
 * Failure('service').
 */
export async function saveStdin(path: string, stdin: Readable, signal: AbortSignal): Promise<void> {
  const stop = (): unknown => stdin.destroy();
  signal.addEventListener('abort', stop);
  try {
    await makeFolders(dirname(dirname(path)));
    await mkdir(dirname(path), DIRECTORY_MODE);
    const file = await createFile(path);
    try {
      for await (const piece of stdin) await file.appendFile(piece as Buffer);
      await file.datasync();
    } finally {
      await file.close();
    }
    signal.throwIfAborted();
  } catch (error) {
    await removeStdin(path);
    signal.throwIfAborted();
    const { code } = error as NodeJS.ErrnoException;
    const what = `stdin cannot be read into a file in ${dirname(dirname(path))}`;
    throw new Failure('service', `${what} (${code ?? 'unknown error'})`, { cause: error });
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** Removes the file and its folder, unless the folder became a run directory. */
export async function removeStdin(path: string): Promise<void> {
  await rm(dirname(path), { recursive: true, force: true });
}
