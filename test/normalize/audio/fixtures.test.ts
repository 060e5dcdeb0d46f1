import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { decodedByFfmpeg, hear, normalizer, samples, toneShare } from './clips.ts';

/** Every file in the folder is a test: a clip beside what is expected of it. */
const FOLDER = fileURLToPath(new URL('../../fixtures/audio/', import.meta.url));
const EXPECTED = z.strictObject({ seconds: z.number(), tone: z.number().nullable() });
/** Encoders pad: AAC most of all, by up to 40 ms. */
const PADDING_SECONDS = 0.05;

const clips = readdirSync(FOLDER).filter((name) => !/\.(?:json|error|sh)$/.test(name));

for (const clip of clips) {
  const path = FOLDER + clip;
  if (existsSync(`${path}.error`)) {
    it(`refuses ${clip}`, async () => {
      const code = readFileSync(`${path}.error`, 'utf8').trim();
      const { end, windows } = await hear(normalizer(), path);
      expect({ end, windows }).toMatchObject({ end: { code }, windows: [] });
    });
  } else {
    it(`hears ${clip} as ffmpeg does`, async () => {
      const { seconds, tone } = EXPECTED.parse(JSON.parse(readFileSync(`${path}.json`, 'utf8')));
      const { end, windows } = await hear(normalizer(), path);
      const pcm = samples(windows);
      const heardSeconds = pcm.length / 2 / 16_000;
      expect(end).toEqual({ windowSeconds: heardSeconds, totalSeconds: heardSeconds });
      expect(Math.abs(heardSeconds - seconds)).toBeLessThan(PADDING_SECONDS);
      expect(pcm.equals(decodedByFfmpeg(path))).toBe(true);
      if (tone !== null) expect(toneShare(pcm, tone)).toBeGreaterThan(0.9);
    });
  }
}

it('has clips to test', () => {
  expect(clips.length).toBeGreaterThan(50);
});
