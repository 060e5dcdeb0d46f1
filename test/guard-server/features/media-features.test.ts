import { readFile } from 'node:fs/promises';
import { afterAll, expect, it } from 'vitest';
import { MediaFeatures } from '../../../src/guard-server/features/media-features.ts';
import { FRAMES, MEL_BINS } from '../../../src/guard-server/features/log-mel.ts';
import { Normalizer } from '../../../src/normalize/normalizer.ts';
import { hear } from '../../normalize/audio/clips.ts';

// Matchers take minutes to compare millions of elements.
const bytesOf = (values: Float32Array): Buffer => Buffer.from(values.buffer);

const never = new AbortController().signal;
const path = (name: string): string => new URL(`../../fixtures/${name}`, import.meta.url).pathname;

const features = new MediaFeatures();
const normalizer = Normalizer.open();
afterAll(() => Promise.all([features.close(), normalizer.close()]));

it.each(['cmyk.jpg', 'orientation.jpg', 'transparent.gif', 'rgba-16.png'])(
  'an image and its normal form have the same pixels: %s (C-801, C-808)',
  async (name) => {
    const original = await readFile(path(`images/${name}`));
    const normal = await normalizer.image(original, { frames: 1, signal: never });
    if ('code' in normal) throw new Error(normal.message);
    const pixels = await features.image(original);
    expect(pixels).not.toBeNull();
    const again = await features.image(normal.frames[0]!.bytes);
    expect([again?.width, again?.height]).toEqual([pixels!.width, pixels!.height]);
    expect(Buffer.compare(again!.rgb, pixels!.rgb)).toBe(0);
  },
);

it.each(['stereo.wav', 'index-at-end.m4a', 'vorbis.ogg'])(
  'a clip and its normal form have the same log-mel spectrogram: %s (C-808)',
  async (name) => {
    const { windows } = await hear(normalizer, path(`audio/${name}`));
    const spectrogram = await features.audio(await readFile(path(`audio/${name}`)));
    expect(spectrogram).toHaveLength(FRAMES * MEL_BINS);
    const again = await features.audio(windows[0]!.wav);
    expect(Buffer.compare(bytesOf(again!), bytesOf(spectrogram!))).toBe(0);
    expect(new Set(spectrogram).size).toBeGreaterThan(100);
  },
);

it('media that cannot be decoded have no features', async () => {
  expect(await features.image(await readFile(path('images/truncated.png')))).toBeNull();
  expect(await features.audio(await readFile(path('audio/text.mp3')))).toBeNull();
  expect(await features.audio(Buffer.alloc(0))).toBeNull();
});
