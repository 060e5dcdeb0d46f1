/**
 * Preloaded into a run: counts the operations of its main thread that change the disk, and kills the process at the
 * one that DIE_AT names: before it (DIE_HOW=before), after it (after), or, of a write, with a part of its bytes written
 * (torn). With DIE_COUNT, a path, it writes how many operations there were when the process ends.
 */
import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs';
import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { isMainThread } from 'node:worker_threads';

const { DIE_AT, DIE_HOW, DIE_COUNT } = process.env;
// Decoders and threads are helpers of the process that is to die.
delete process.env.NODE_OPTIONS;

if (isMainThread) {
  const at = Number(DIE_AT ?? 0);
  let operations = 0;
  const die = () => process.kill(process.pid, 'SIGKILL');

  const counted = (target, name, torn) => {
    const original = target[name];
    target[name] = function (...args) {
      if (++operations !== at) return original.apply(this, args);
      if (DIE_HOW === 'after') return original.apply(this, args).finally(die);
      if (DIE_HOW === 'torn') torn?.call(this, ...args);
      die();
      return new Promise(() => {});
    };
  };

  const handle = await fs.open(process.execPath, 'r');
  const FileHandle = Object.getPrototypeOf(handle);
  await handle.close();
  const half = (bytes) => Buffer.from(bytes).subarray(0, Math.ceil(Buffer.byteLength(bytes) / 2));
  counted(
    FileHandle,
    'write',
    function (buffer, offset = 0, length = buffer.byteLength - offset, position = null) {
      if (typeof buffer === 'string') writeSync(this.fd, half(buffer));
      else writeSync(this.fd, buffer, offset, Math.floor(length / 2), position);
    },
  );
  for (const name of ['appendFile', 'writeFile']) {
    counted(FileHandle, name, function (data) {
      writeSync(this.fd, half(data));
    });
  }
  for (const name of ['datasync', 'sync', 'truncate']) counted(FileHandle, name);
  for (const name of ['mkdir', 'rename', 'rm', 'unlink', 'link', 'utimes']) counted(fs, name);
  counted(fs, 'writeFile', (path, data) => {
    const fd = openSync(path, 'w');
    writeSync(fd, half(data));
    closeSync(fd);
  });
  const { open } = fs;
  fs.open = (path, flags = 'r', ...rest) => {
    if (flags === 'r' || (typeof flags === 'number' && (flags & 3) === 0)) return open(path, flags, ...rest);
    operations++;
    if (operations !== at) return open(path, flags, ...rest);
    if (DIE_HOW !== 'after') die();
    return open(path, flags, ...rest).finally(die);
  };
  syncBuiltinESMExports();
  if (DIE_COUNT !== undefined) process.on('exit', () => writeFileSync(DIE_COUNT, String(operations)));
}
