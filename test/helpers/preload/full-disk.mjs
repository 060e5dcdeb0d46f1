/** Preloaded into a process: while the file that FULL_DISK names is there, nothing it writes finds room. */
import { existsSync } from 'node:fs';
import { open } from 'node:fs/promises';

const handle = await open(process.execPath, 'r');
const FileHandle = Object.getPrototypeOf(handle);
await handle.close();
const write = FileHandle.write;

FileHandle.write = function (...args) {
  if (!existsSync(process.env.FULL_DISK)) return write.apply(this, args);
  return Promise.reject(
    Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' }),
  );
};
