import type { ChildProcess } from 'node:child_process';
import { getEventListeners, once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import sharp from 'sharp';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { ItemError } from '../../../src/domain/item-error.ts';
import type { ImageNormalizerOptions } from '../../../src/normalize/image/image-normalizer.ts';
import type { NormalImage } from '../../../src/normalize/image/normal-image.ts';
import { endDecoder, imageNormalizer, startedProcesses } from '../../helpers/normalizer.ts';
import { drawn } from '../../helpers/pictures.ts';
import { gifFrames } from '../../helpers/images/image-bombs.ts';
import { peakMemory } from '../../helpers/images/peak-memory.ts';
import { settled } from '../../helpers/settled.ts';

afterEach(() => void vi.unstubAllEnvs());

const MEBIBYTE = 2 ** 20;
const signal = new AbortController().signal;
const options = { frames: 8, signal };
const solid = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: 'navy' } });

/** Takes long enough to decode that something can happen meanwhile. */
const large = await drawn(4000, 3000).jpeg({ quality: 60 }).toBuffer();
const small = await drawn(40, 30).png().toBuffer();

/** A normalizer, by default of one decoder, and the processes that it starts. */
function watched(more: ImageNormalizerOptions = {}) {
  return { started: startedProcesses(), normalizer: imageNormalizer({ processes: 1, ...more }) };
}

function image(result: NormalImage | ItemError): NormalImage {
  if ('code' in result) throw new Error(`${result.code}: ${result.message}`);
  return result;
}

it('gives the normal form of many images, decoded in as many processes as it may have', async () => {
  const { started, normalizer } = watched({ processes: 2 });
  expect(started.all).toHaveLength(0);
  const results = await Promise.all(
    Array.from({ length: 9 }, (_, turn) => normalizer.image(turn % 3 === 0 ? large : small, options)),
  );
  for (const [turn, result] of results.entries()) {
    const size = turn % 3 === 0 ? { width: 512, height: 384 } : { width: 40, height: 30 };
    expect(image(result)).toMatchObject({ total: 1, frames: [{ index: 0, ...size }] });
  }
  expect(started.all).toHaveLength(2);
});

it('replaces a decoder that ends, idle or not, and an image costs no more than two of them', async () => {
  const { started, normalizer } = watched();
  const results = [large, large, large].map((bytes) => normalizer.image(bytes, options));
  const deaths = ['SIGSEGV', 'SIGSEGV', 'SIGKILL', 'SIGKILL', 'SIGSEGV'] as const;
  for (const [index, death] of deaths.entries()) await endDecoder(started, index + 1, death);
  expect(await Promise.all(results)).toMatchObject([
    { code: 'CORRUPT_MEDIA' },
    { code: 'INTERNAL' },
    { total: 1, frames: [{ width: 512 }] },
  ]);
  expect(started.all).toHaveLength(6);
  const idle = started.all[5]!;
  idle.kill('SIGKILL');
  await once(idle, 'exit');
  image(await normalizer.image(small, options));
  expect(started.all).toHaveLength(7);
});

it.each([
  ['works', 'MEDIA_TOO_LARGE', { processorMs: 1, wallMs: 100_000 }],
  ['takes', 'TIMEOUT', { processorMs: 100_000, wallMs: 1 }],
] as const)('ends a decoder that %s too long', async (_, code, limits) => {
  const { started, normalizer } = watched({ limits });
  expect(await normalizer.image(large, options)).toMatchObject({ code });
  expect((await started.first).signalCode).toBe('SIGKILL');
  expect(started.all).toHaveLength(1);
});

it('lets a decoder take its time that gets none from the machine', async () => {
  const { started, normalizer } = watched({ limits: { processorMs: 2_000, wallMs: 100_000 } });
  image(await normalizer.image(small, options));
  const decoder = await started.first;
  const result = normalizer.image(large, options);
  decoder.kill('SIGSTOP');
  await setTimeout(2_500);
  decoder.kill('SIGCONT');
  expect(image(await result).frames).toHaveLength(1);
  expect(started.all).toHaveLength(1);
});

it('stops waiting on abort, whether an image is being decoded or waits its turn', async () => {
  const normalizer = imageNormalizer({ processes: 1 });
  const stop = new AbortController();
  const both = [large, small].map((bytes) => normalizer.image(bytes, { frames: 1, signal: stop.signal }));
  const ends = Promise.allSettled(both);
  stop.abort(new Error('stop'));
  expect(await ends).toMatchObject([{ reason: { message: 'stop' } }, { reason: { message: 'stop' } }]);
  expect(getEventListeners(stop.signal, 'abort')).toHaveLength(0);
  image(await normalizer.image(small, options));
});

it('leaves no process behind when it is closed, however often', async () => {
  const { started, normalizer } = watched();
  const ends = Promise.allSettled([large, small].map((bytes) => normalizer.image(bytes, options)));
  const decoder = await started.first;
  await once(decoder, 'message'); // it has started, and is given the image
  decoder.kill('SIGSTOP');
  await Promise.all([normalizer.close(), normalizer.close()]);
  expect((await ends).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(decoder.signalCode).toBe('SIGKILL');
  await expect(normalizer.image(small, options)).rejects.toThrow('closed');
  expect(started.all).toHaveLength(1);
});

it('does not blame an image for a decoder that cannot start', async () => {
  const { started, normalizer } = watched({ memoryBytes: 48 * MEBIBYTE });
  expect(await normalizer.image(small, options)).toMatchObject({ code: 'INTERNAL' });
  expect(started.all.map(({ signalCode }) => signalCode)).not.toContain(null);
});

it('costs no other image where the decoder of a JPEG or a GIF is refused memory', async () => {
  const { started, normalizer } = watched({ memoryBytes: 256 * MEBIBYTE });
  const refused = [
    await solid(9_000, 9_000).toColourspace('b-w').jpeg().toBuffer(),
    gifFrames(8_000, 8_000, 1),
  ];
  const [jpeg, gif, other] = [...refused, small].map((bytes) => normalizer.image(bytes, options));
  expect(['CORRUPT_MEDIA', 'MEDIA_TOO_LARGE']).toContain(((await jpeg!) as ItemError).code);
  expect(['CORRUPT_MEDIA', 'MEDIA_TOO_LARGE']).toContain(((await gif!) as ItemError).code);
  expect(image(await other!).frames).toHaveLength(1);
  expect(peakMemory(started.all.at(-1)!.pid!)).toBeLessThan(256 * MEBIBYTE);
});

/** Where programs and libraries are, how this one manages memory, and where its channel is. */
const HARMLESS =
  /^(?:PATH|PWD|LD_LIBRARY_PATH|TMPDIR|TZ|UV_THREADPOOL_SIZE|MALLOC_[A-Z_]*|NODE_CHANNEL_.*|)$/;

/** A BMP of one colour, without compression. A large one fits in no pipe: ffmpeg waits for the rest of it. */
function bitmapFile(width: number, height: number): Buffer {
  const file = Buffer.alloc(54 + width * height * 4, 0x40);
  file.fill(0, 0, 54).write('BM', 'latin1');
  file.writeUInt32LE(file.length, 2);
  file.writeUInt32LE(54, 10);
  file.writeUInt32LE(40, 14);
  file.writeInt32LE(width, 18);
  file.writeInt32LE(height, 22);
  file.writeUInt16LE(1, 26);
  file.writeUInt16LE(32, 28);
  return file;
}

describe('a BMP', () => {
  const isFfmpeg = ({ spawnargs }: ChildProcess): boolean => spawnargs.includes('ffmpeg');

  it('is converted by ffmpeg, which may read nothing but a bitmap from a pipe', async () => {
    const started = startedProcesses();
    const { frames } = image(await imageNormalizer().image(bitmapFile(1024, 600), options));
    expect(frames).toMatchObject([{ width: 512, height: 300, form: 'png' }]);
    expect(started.all.map(isFfmpeg)).toEqual([true, false]);
    const given = started.all[0]!.spawnargs.join(' ');
    expect(given).toContain('-protocol_whitelist pipe -format_whitelist bmp_pipe -f bmp_pipe -i pipe:3');
  });

  it('is tried once more when its ffmpeg is ended, then makes way for the next image', async () => {
    const { started, normalizer } = watched();
    const bitmap = bitmapFile(1024, 1024);
    const killedBy = async (death: NodeJS.Signals, turns: readonly number[]) => {
      const result = normalizer.image(bitmap, options);
      for (const turn of turns) {
        await settled(() => started.all.length === turn);
        started.all[turn - 1]!.kill(death);
      }
      return result;
    };
    expect(await killedBy('SIGSEGV', [1, 2])).toMatchObject({ code: 'CORRUPT_MEDIA' });
    expect(await killedBy('SIGKILL', [3, 4])).toMatchObject({ code: 'INTERNAL' });
    expect(started.all.map(isFfmpeg)).toEqual([true, true, true, true]);
  });

  it('leaves no ffmpeg behind on abort and when the normalizer is closed', async () => {
    const { started, normalizer } = watched({ processes: 2 });
    const stop = new AbortController();
    const bitmap = bitmapFile(1024, 1024);
    const aborted = normalizer.image(bitmap, { frames: 1, signal: stop.signal });
    const closed = normalizer.image(bitmap, options);
    const ends = Promise.allSettled([aborted, closed]);
    await settled(() => started.all.length === 2);
    stop.abort(new Error('stop'));
    await normalizer.close();
    const reasons = ['stop', 'the normalizer was closed'].map((message) => ({ reason: { message } }));
    expect(await ends).toMatchObject(reasons);
    expect(started.all.map(({ exitCode, signalCode }) => exitCode ?? signalCode)).not.toContain(null);
  });

  it('says what to install where ffmpeg is missing', async () => {
    vi.stubEnv('PATH', '');
    const result = await imageNormalizer().image(bitmapFile(8, 8), options);
    const message: unknown = expect.stringContaining('apt-get');
    expect(result).toMatchObject({ code: 'INTERNAL', message });
  });
});

it('hands no secrets to the processes that parse the files', async () => {
  const { started, normalizer } = watched();
  vi.stubEnv('GUARD_API_KEY', 'secret');
  image(await normalizer.image(small, options));
  expect((await started.first).spawnargs.join(' ')).not.toContain('secret');
  const environment = await readFile(`/proc/${(await started.first).pid}/environ`, 'utf8');
  const names = environment.split('\0').map((variable) => variable.split('=')[0]);
  expect(names.filter((name) => !HARMLESS.test(name!))).toEqual([]);
});
