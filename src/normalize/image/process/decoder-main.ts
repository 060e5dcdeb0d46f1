import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { itemError, type ItemError } from '../../../domain/item-error.ts';
import { framePicture, normalizeImage, normalPixels } from '../normalize-image.ts';
import { restrictLibvips } from '../libvips-page.ts';
import type { AnyDecoded, FromDecoder, ToDecoder, WantedForm } from './decoder-process.ts';

/** Entry point of a process that decodes images. It runs until its parent closes the channel or kills it. */

/** External memory up to this size is left for V8 to collect on its own. */
const KEPT_BYTES = 64 * 1024 * 1024;

function send(message: FromDecoder): void {
  process.send!(message);
}

async function admit(bytes: number): Promise<void> {
  send({ kind: 'needs', bytes });
  await once(process, 'message');
}

async function decode(bytes: Buffer, wanted: WantedForm): Promise<AnyDecoded | ItemError> {
  try {
    if (wanted === 'pixels') return await normalPixels(bytes, admit);
    return 'maxEdge' in wanted
      ? await framePicture(bytes, wanted, admit)
      : await normalizeImage(bytes, wanted, admit);
  } catch (error) {
    if (isOutOfMemory(error)) return itemError('MEDIA_TOO_LARGE', 'decoding the image takes too much memory');
    return itemError('INTERNAL', 'decoding the image failed because of a bug in this program');
  }
}

/** V8 throws a plain RangeError if a buffer cannot be allocated; Node's other range errors have a code. */
function isOutOfMemory(error: unknown): boolean {
  return error instanceof RangeError && !('code' in error);
}

/** Frees the memory of an image before another process is admitted. */
async function freeMemory(): Promise<void> {
  if (process.memoryUsage().external <= KEPT_BYTES) return;
  gc!();
  await setImmediate(); // V8 frees external memory one turn later
}

async function answer(message: ToDecoder): Promise<void> {
  if (message.kind === 'proceed') return; // handled by `admit`
  const result = await decode(message.bytes, message.wanted);
  await freeMemory();
  const { user, system } = process.cpuUsage();
  send({ kind: 'done', result, processorMs: (user + system) / 1000 });
}

restrictLibvips();
// A service manager sends SIGTERM to every process of the service; the parent decides when this one ends.
process.on('SIGTERM', () => undefined);
// There is nothing to clean up, and an exit would wait for a library that hangs.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
process.on('message', (message: ToDecoder) => void answer(message));
send({ kind: 'ready' });
