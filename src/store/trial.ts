import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { lstat, open, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { FILE_MODE } from '../files/create-file.ts';
import { readWholeFile } from '../files/open-file.ts';
import { BINARY, FILE_OPTIONS } from './environment.ts';
import { STORE_FILES } from '../files/store-files.ts';

/** How long another process may hold the lock of writers, in milliseconds: a write takes well under a second. */
const WAIT_MS = 5000;

/**
 * Opens the data and reads all of it. In transactions that it gives up, it takes each entry out and puts it back, and takes
 * all free pages: damage to what a page holds beside its entries, and to the list of free pages, shows only there. Its exit
 * status is 0 if the library found nothing wrong.
 */
const TRIAL = `
  const [library, path, options, binary] = process.argv.slice(1).map((text) => JSON.parse(text));
  const { open, ABORT } = require(library);
  const root = open({ path, ...options });
  root.putSync(Buffer.from('trial'), Buffer.from('trial'));
  root.removeSync(Buffer.from('trial'));
  process.stdout.write('opened');
  const LIMIT = 50_000;
  for (const { key: name } of root.getRange()) {
    const table = root.openDB(name.toString(), binary);
    for (let start, count = LIMIT; count === LIMIT;) {
      const entries = Array.from(table.getRange({ start, limit: LIMIT }), ({ key, value }) => [key, Buffer.from(value)]);
      count = entries.length;
      start = entries.at(-1)?.[0];
      root.transactionSync(() => {
        for (const [key, value] of entries) {
          table.removeSync(key);
          table.putSync(key, value);
        }
        return ABORT;
      });
    }
  }
  const pages = Math.min(root.getStats().lastPageNumber, 50_000);
  const halfAPage = Buffer.alloc(1900);
  root.transactionSync(() => {
    for (let page = 0; page < 2 * pages; page++) root.put(Buffer.from('trial ' + page), halfAPage);
    return ABORT;
  });
  // A length that was damaged can have the library write behind its memory, which the allocator finds out here.
  for (let block = 0, held = []; block < 500; block++) held.push(Buffer.allocUnsafeSlow(100_000));
  process.exit(0);
`;

/**
 * Whether the data in a folder can be opened here. The library maps its file and trusts it: damage can end the process.
 * And opening waits without end, and without giving way to anything else, for a process that was stopped (Ctrl-Z) while
 * it wrote. So unless the data is as it was when it was last closed, a process of its own tries first: some seconds per
 * million verdicts. `held`: another process does not let go of it. Rejects with the signal's reason when aborted.
 */
export async function tryData(folder: string, signal: AbortSignal): Promise<'usable' | 'held' | 'damaged'> {
  signal.throwIfAborted();
  for (const name of Object.values(STORE_FILES)) {
    // Opening a pipe would wait for ever.
    const found = await lstat(join(folder, name)).catch(() => null);
    if (found === null ? name === STORE_FILES.data : !found.isFile()) return 'damaged';
  }
  const closed = await readWholeFile(join(folder, STORE_FILES.closed), { maxBytes: 512, links: 'refuse' })
    .then(String)
    .catch(() => null);
  if (closed !== null && closed === (await stateOf(folder))) return 'usable';
  const library = createRequire(import.meta.url).resolve('lmdb');
  const given = [library, join(folder, STORE_FILES.data), FILE_OPTIONS, BINARY].map((each) =>
    JSON.stringify(each),
  );
  const child = spawn(process.execPath, ['-e', TRIAL, ...given], {
    env: {},
    stdio: ['ignore', 'pipe', 'ignore'],
    signal,
    killSignal: 'SIGKILL',
  });
  let isHeld = false;
  const late = setTimeout(() => {
    isHeld = true;
    child.kill('SIGKILL');
  }, WAIT_MS);
  child.stdout.once('data', () => clearTimeout(late));
  try {
    const [status] = (await once(child, 'close')) as [number | null];
    return status === 0 ? 'usable' : isHeld ? 'held' : 'damaged';
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    clearTimeout(late);
  }
}

/** To be called when data is opened: whoever does not close it leaves no note. */
export async function noteOpened(folder: string): Promise<void> {
  await rm(join(folder, STORE_FILES.closed), { force: true });
}

/** Notes what the data file is like after it was closed. All of it is on disk before the note; half a note is none. */
export async function noteClosed(folder: string): Promise<void> {
  const data = await open(join(folder, STORE_FILES.data), 'r+');
  await data.datasync().finally(() => data.close());
  await writeFile(join(folder, STORE_FILES.closed), await stateOf(folder), { mode: FILE_MODE });
}

async function stateOf(folder: string): Promise<string> {
  const { size, mtimeNs, ctimeNs } = await lstat(join(folder, STORE_FILES.data), { bigint: true });
  return `${JSON.stringify({ bytes: String(size), written: String(mtimeNs), changed: String(ctimeNs) })}\n`;
}
