import type { ChildProcess } from 'node:child_process';
import { getEventListeners, once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
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

it.each(['SIGSEGV', 'SIGKILL'] as const)(
  'decodes an image again when its decoder ends by %s',
  async (death) => {
    const { started, normalizer } = watched();
    const result = normalizer.image(large, options);
    await endDecoder(started, 1, death);
    expect(image(await result).frames).toHaveLength(1);
    expect(started.all).toHaveLength(2);
  },
);

it.each([
  ['SIGSEGV', 'CORRUPT_MEDIA'],
  ['SIGKILL', 'INTERNAL'],
] as const)('costs one image when two decoders end over it by %s', async (death, code) => {
  const { started, normalizer } = watched();
  const [first, second] = [normalizer.image(large, options), normalizer.image(small, options)];
  for (const turn of [1, 2]) await endDecoder(started, turn, death);
  expect(await first).toMatchObject({ code });
  expect(image(await second).frames).toHaveLength(1);
  expect(started.all).toHaveLength(3);
});

it('replaces a decoder that was ended while it was idle', async () => {
  const { started, normalizer } = watched();
  image(await normalizer.image(small, options));
  (await started.first).kill('SIGKILL');
  await once(await started.first, 'exit');
  image(await normalizer.image(small, options));
  expect(started.all).toHaveLength(2);
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

it.each([
  ['JPEG', drawn(10_000, 10_000).jpeg({ quality: 40 }).toBuffer()],
  ['GIF', gifFrames(9_000, 9_000, 1)],
])('costs one image where the decoder of a %s is refused memory', async (_, picture) => {
  const bytes = await picture;
  const { started, normalizer } = watched({ memoryBytes: 256 * MEBIBYTE });
  const [first, second] = [normalizer.image(bytes, options), normalizer.image(small, options)];
  expect(['CORRUPT_MEDIA', 'MEDIA_TOO_LARGE']).toContain(((await first) as ItemError).code);
  expect(image(await second).frames).toHaveLength(1);
  expect(peakMemory(started.all.at(-1)!.pid!)).toBeLessThan(256 * MEBIBYTE);
});

/** Where programs and libraries are, how this one manages memory, and where its channel is. */
const HARMLESS =
  /^(?:PATH|PWD|LD_LIBRARY_PATH|TMPDIR|TZ|UV_THREADPOOL_SIZE|MALLOC_[A-Z_]*|NODE_CHANNEL_.*|)$/;

/** A BMP of one colour, without compression. */
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

  it.each([
    ['SIGSEGV', 'CORRUPT_MEDIA'],
    ['SIGKILL', 'INTERNAL'],
  ] as const)('is tried once more when its ffmpeg ends by %s, then costs one image', async (death, code) => {
    const { started, normalizer } = watched();
    const result = normalizer.image(bitmapFile(4000, 4000), options);
    for (const turn of [1, 2]) {
      await settled(() => started.all.length === turn);
      started.all[turn - 1]!.kill(death);
    }
    expect(await result).toMatchObject({ code });
    expect(started.all.every(isFfmpeg)).toBe(true);
    image(await normalizer.image(small, options));
  });

  it('leaves no ffmpeg behind on abort and when the normalizer is closed', async () => {
    const { started, normalizer } = watched({ processes: 2 });
    const stop = new AbortController();
    const bitmap = bitmapFile(4000, 4000);
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
