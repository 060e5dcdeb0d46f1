import { readdirSync, readFileSync } from 'node:fs';
import sharp from 'sharp';
import { expect, it } from 'vitest';
import { imageNormalizer, startedProcesses } from '../helpers/normalizer.ts';
import { withTrueChecksums } from '../helpers/png.ts';
import { CODES, damage, FILES, SEED } from './mutations.ts';

/** The folder of images has six formats. */
const FIXTURES = [
  { kind: 'images', files: 6 * FILES },
  { kind: 'heic', files: FILES },
];
const PROCESSES = 2;

it.each(FIXTURES)(
  `gives $files damaged $kind one outcome each (FUZZ_SEED=${SEED})`,
  async ({ kind, files }) => {
    const folder = new URL(`../fixtures/${kind}/`, import.meta.url);
    const originals = readdirSync(folder)
      .filter((name) => !/\.(?:json|error|py|sh)$/.test(name))
      .map((name) => readFileSync(new URL(name, folder)))
      .filter(({ length }) => length > 0);
    const started = startedProcesses();
    const normalizer = imageNormalizer({ processes: PROCESSES });
    const { signal } = new AbortController();
    await damage(originals, { files, sideBySide: PROCESSES + 1 }, async (index, damaged) => {
      // most damage to a PNG is found by its checksums: every other one gets past them
      const bytes = index % 2 === 0 ? damaged : withTrueChecksums(damaged);
      const end = await normalizer.image(bytes, { frames: 1 + (index % 8), signal });
      if ('code' in end) {
        expect(CODES, `image ${index}: ${end.message}`).toContain(end.code);
        return end.code;
      }
      expect(end.frames.length).toBeGreaterThan(0);
      expect(end.total).toBeGreaterThanOrEqual(end.frames.length);
      for (const { bytes: sent, width, height } of end.frames) {
        // what is sent is an image of the size that is promised
        expect(await sharp(sent).metadata()).toMatchObject({ width, height });
        expect(Math.max(width, height)).toBeLessThanOrEqual(512);
      }
      return 'decoded';
    });
    const decoders = started.all.filter(({ spawnargs }) => !spawnargs.includes('ffmpeg'));
    expect(decoders, 'no decoder had to be replaced').toHaveLength(PROCESSES);
  },
  60_000 + FILES * 6_000,
);
