import { once } from 'node:events';
import { itemError, type ItemError } from '../../../domain/item-error.ts';
import { type NormalImage } from '../normal-image.ts';
import { normalizeImage } from '../normalize-image.ts';
import { restrictLibvips } from '../restrict-libvips.ts';
import { type FromDecoder, type ToDecoder } from './messages.ts';

/** What a process that decodes images runs. It lives until its starter closes the channel, or kills it. */

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

async function answer(message: ToDecoder): Promise<void> {
  if (message.kind === 'proceed') return; // whoever asked for it waits for it
  send({ kind: 'done', result: await normalize(message.bytes, message.frames) });
}

restrictLibvips();
// A terminal's Ctrl-C and a service manager's stop reach every process; the starter decides when this one ends.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
process.on('disconnect', () => process.exit());
process.on('message', (message: ToDecoder) => void answer(message));
