import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { itemError, type ItemError } from '../../../domain/item-error.ts';
import type { NormalImage } from '../normal-image.ts';
import { normalizeImage } from '../normalize-image.ts';
import { restrictLibvips } from '../restrict-libvips.ts';
import type { FromDecoder, ToDecoder } from './messages.ts';

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

async function normalize(bytes: Buffer, frames: number): Promise<NormalImage | ItemError> {
  try {
    return await normalizeImage(bytes, frames, admit);
  } catch {
    return itemError('INTERNAL', 'decoding the image failed by a fault of this program');
  }
}

/** Lets go of what was held for an image before another process is given the memory. */
async function freeMemory(): Promise<void> {
  if (process.memoryUsage().external <= KEPT_BYTES) return;
  gc!();
  await setImmediate(); // the engine frees what libraries allocated a turn later
}

async function answer(message: ToDecoder): Promise<void> {
  if (message.kind === 'proceed') return; // whoever asked for it waits for it
  const result = await normalize(message.bytes, message.frames);
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
