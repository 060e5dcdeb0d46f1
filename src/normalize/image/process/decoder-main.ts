import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { itemError, type ItemError } from '../../../domain/item-error.ts';
import type { NormalImage, Pixels } from '../normal-image.ts';
import { normalizeImage, normalPixels } from '../normalize-image.ts';
import { restrictLibvips } from '../restrict-libvips.ts';
import type { FromDecoder, ToDecoder, Wanted } from './messages.ts';

/** What a process that decodes images runs. It lives until its starter closes the channel, or kills it. */

/** What nobody uses any more may stay until the engine clears up by itself, up to this much. */
const KEPT_BYTES = 64 * 1024 * 1024;

function send(message: FromDecoder): void {
  process.send!(message);
}

async function admit(bytes: number): Promise<void> {
  send({ kind: 'needs', bytes });
  await once(process, 'message');
}

async function decode(bytes: Buffer, wanted: Wanted): Promise<NormalImage | Pixels | ItemError> {
  try {
    return wanted === 'pixels'
      ? await normalPixels(bytes, admit)
      : await normalizeImage(bytes, wanted, admit);
  } catch (error) {
    if (isOutOfMemory(error)) return itemError('MEDIA_TOO_LARGE', 'decoding the image takes too much memory');
    return itemError('INTERNAL', 'decoding the image failed by a fault of this program');
  }
}

/** The engine has no class or code of its own for a buffer that cannot be had; its other range errors have a code. */
function isOutOfMemory(error: unknown): boolean {
  return error instanceof RangeError && !('code' in error);
}

/** Lets go of what was held for an image before another process is given the memory. */
async function freeMemory(): Promise<void> {
  if (process.memoryUsage().external <= KEPT_BYTES) return;
  gc!();
  await setImmediate(); // the engine frees what libraries allocated a turn later
}

async function answer(message: ToDecoder): Promise<void> {
  if (message.kind === 'proceed') return; // whoever asked for it waits for it
  const result = await decode(message.bytes, message.wanted);
  await freeMemory();
  const { user, system } = process.cpuUsage();
  send({ kind: 'done', result, processorMs: (user + system) / 1000 });
}

restrictLibvips();
// A service manager's stop reaches every process; the starter decides when this one ends.
process.on('SIGTERM', () => undefined);
// There is nothing to put in order, and an exit would wait for a library that hangs.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
process.on('message', (message: ToDecoder) => void answer(message));
send({ kind: 'ready' });
