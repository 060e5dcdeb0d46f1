import { readdirSync, readFileSync } from 'node:fs';
import pLimit from 'p-limit';
import sharp from 'sharp';
import { expect, it } from 'vitest';
import { imageNormalizer, startedProcesses } from '../helpers/normalizer.ts';
import { withTrueChecksums } from '../helpers/png.ts';
import { FILES, mutatedFile, numbers, SEED } from './mutations.ts';

/** The folder of images has six formats. */
const FIXTURES = [
  { kind: 'images', files: 6 * FILES },
  { kind: 'heic', files: FILES },
];
const PROCESSES = 2;

/** What a damaged file may end as: never as a crash, a hang or a fault of ours. */
const CODES = ['UNSUPPORTED_TYPE', 'CORRUPT_MEDIA', 'EMPTY_CONTENT', 'MEDIA_TOO_LARGE'];

it.each(FIXTURES)(
  `gives $files damaged $kind one outcome each (FUZZ_SEED=${SEED})`,
  async ({ kind, files }) => {
    const folder = new URL(`../fixtures/${kind}/`, import.meta.url);
    const originals = readdirSync(folder)
      .filter((name) => !/\.(?:json|error|py|sh)$/.test(name))
      .map((name) => readFileSync(new URL(name, folder)))
      .filter(({ length }) => length > 0);
    const pick = numbers(SEED);
    const started = startedProcesses();
    const normalizer = imageNormalizer({ processes: PROCESSES });
    const tally = new Map<string, number>();
    const outcome = async (index: number, bytes: Buffer): Promise<void> => {
      const { signal } = new AbortController();
      const end = await normalizer.image(bytes, { frames: 1 + (index % 8), signal });
      const kind = 'code' in end ? end.code : 'decoded';
      tally.set(kind, (tally.get(kind) ?? 0) + 1);
      if ('code' in end) return expect(CODES, `image ${index}: ${end.message}`).toContain(end.code);
      expect(end.frames.length).toBeGreaterThan(0);
      expect(end.total).toBeGreaterThanOrEqual(end.frames.length);
      for (const { bytes: sent, width, height } of end.frames) {
        // what is sent is an image of the size that is promised
        expect(await sharp(sent).metadata()).toMatchObject({ width, height });
        expect(Math.max(width, height)).toBeLessThanOrEqual(512);
      }
    };
    const limit = pLimit(PROCESSES + 1);
    await Promise.all(
      Array.from({ length: files }, (_, index) => {
        const damaged = mutatedFile(originals, pick);
        // most damage to a PNG is found by its checksums: every other one gets past them
        return limit(() => outcome(index, index % 2 === 0 ? damaged : withTrueChecksums(damaged)));
      }),
    );
    expect([...tally.values()].reduce((sum, count) => sum + count)).toBe(files);
    const decoders = started.all.filter(({ spawnargs }) => !spawnargs.includes('ffmpeg'));
    expect(decoders, 'no decoder had to be replaced').toHaveLength(PROCESSES);
    console.info(`seed ${SEED}:`, Object.fromEntries(tally));
  },
  60_000 + FILES * 6_000,
);
