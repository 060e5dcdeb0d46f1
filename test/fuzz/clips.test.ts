import { readdirSync, readFileSync } from 'node:fs';
import { open, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pLimit from 'p-limit';
import { expect, it } from 'vitest';
import { WAV_HEADER_BYTES } from '../helpers/wav.ts';
import { normalizer } from '../normalize/audio/clips.ts';
import { childrenNamed } from '../normalize/audio/processes.ts';
import { FILES, mutatedFile, numbers, SEED } from './mutations.ts';
import { temporaryFolder } from '../helpers/cli.ts';

const FIXTURES = fileURLToPath(new URL('../fixtures/audio/', import.meta.url));

/** What a damaged file may end as: never as a fault of ours. */
const CODES = [
  'UNSUPPORTED_TYPE',
  'UNSUPPORTED_AUDIO_TYPE',
  'CORRUPT_MEDIA',
  'EMPTY_CONTENT',
  'MEDIA_TOO_LARGE',
];

it(
  `gives ${FILES} damaged clips one outcome each (FUZZ_SEED=${SEED})`,
  async () => {
    const clips = readdirSync(FIXTURES)
      .filter((name) => !/\.(?:json|error|sh)$/.test(name))
      .map((name) => readFileSync(FIXTURES + name));
    const pick = numbers(SEED);
    const by = normalizer({ decoders: 4 });
    const home = await temporaryFolder();
    const tally = new Map<string, number>();
    const limit = pLimit(4);
    const outcome = async (index: number, clip: Buffer): Promise<void> => {
      const path = join(home, String(index));
      await writeFile(path, clip);
      const file = await open(path);
      let seconds = 0;
      const end = await by
        .audio(file, {
          long: 'windows',
          signal: new AbortController().signal,
          each: async (window) => {
            expect(window.startSeconds).toBe(seconds);
            expect(window.wav.length).toBe(WAV_HEADER_BYTES + Math.round(window.seconds * 32_000));
            seconds += window.seconds;
          },
        })
        .finally(() => file.close());
      await rm(path);
      const kind = 'code' in end ? end.code : 'heard';
      tally.set(kind, (tally.get(kind) ?? 0) + 1);
      if ('code' in end) expect(CODES, `clip ${index} of seed ${SEED}`).toContain(end.code);
      else expect(Math.abs(end.totalSeconds - seconds)).toBeLessThan(1e-6);
    };
    await Promise.all(
      Array.from({ length: FILES }, (_, index) => [index, mutatedFile(clips, pick)] as const).map(
        ([index, clip]) => limit(() => outcome(index, clip)),
      ),
    );
    expect([...tally.values()].reduce((sum, count) => sum + count)).toBe(FILES);
    expect(childrenNamed('ffmpeg').concat(childrenNamed('ffprobe'))).toEqual([]);
    console.info(`seed ${SEED}:`, Object.fromEntries(tally));
  },
  60_000 + FILES * 2_000,
);
