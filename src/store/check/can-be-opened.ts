import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { STORE_FILES } from '../../files/store-files.ts';

/** How long another process may hold the lock of writers, in milliseconds: a write takes well under a second. */
const WAIT_MS = 5000;

const OPEN = `
  const [library, path] = process.argv.slice(1);
  require(library).open({ path, noSubdir: true, encoding: 'binary', keyEncoding: 'binary' });
  process.exit(0);
`;

/**
 * Whether the data in a folder can be opened without waiting for ever. Opening takes the lock of writers, and the library
 * waits for it without end and without giving way to anything else: a process that was stopped (Ctrl-Z) while it wrote
 * would stop all others. And a damaged page can end the process that maps it. So a process of its own tries first. Rejects with the signal's reason when aborted.
 */
export async function canBeOpened(folder: string, signal: AbortSignal): Promise<boolean> {
  signal.throwIfAborted();
  const library = createRequire(import.meta.url).resolve('lmdb');
  const child = spawn(process.execPath, ['-e', OPEN, library, join(folder, STORE_FILES.data)], {
    env: {},
    stdio: 'ignore',
    timeout: WAIT_MS,
    killSignal: 'SIGKILL',
  });
  const kill = (): void => void child.kill('SIGKILL');
  signal.addEventListener('abort', kill, { once: true });
  try {
    const opened = await new Promise<boolean>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (_status, killedBy) => resolve(killedBy === null));
    });
    signal.throwIfAborted();
    return opened;
  } finally {
    signal.removeEventListener('abort', kill);
  }
}
