import { readdirSync, readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../helpers/cli.ts';
import { WAV_HEADER_BYTES } from '../helpers/wav.ts';
import { hear, normalizer } from '../normalize/audio/clips.ts';
import { childrenNamed } from '../normalize/audio/processes.ts';
import { damage, FILES, SEED, SOUND_CODES } from './mutations.ts';

const FIXTURES = fileURLToPath(new URL('../fixtures/audio/', import.meta.url));

it(
  `gives ${FILES} damaged clips one outcome each (FUZZ_SEED=${SEED})`,
  async () => {
    const clips = readdirSync(FIXTURES)
      .filter((name) => !/\.(?:json|error|sh)$/.test(name))
      .map((name) => readFileSync(FIXTURES + name));
    const by = normalizer({ decoders: 4 });
    const home = await temporaryFolder();
    await damage(clips, { sideBySide: 4 }, async (index, clip) => {
      const path = join(home, String(index));
      await writeFile(path, clip);
      const { end, windows } = await hear(by, path);
      await rm(path);
      let heard = 0;
      for (const { startSeconds, seconds, wav } of windows) {
        expect(startSeconds).toBe(heard);
        expect(wav.length).toBe(WAV_HEADER_BYTES + Math.round(seconds * 32_000));
        heard += seconds;
      }
      if ('code' in end) expect(SOUND_CODES, `clip ${index} of seed ${SEED}`).toContain(end.code);
      else expect(Math.abs(end.totalSeconds - heard)).toBeLessThan(1e-6);
      return 'code' in end ? end.code : 'heard';
    });
    expect(childrenNamed('ffmpeg').concat(childrenNamed('ffprobe'))).toEqual([]);
  },
  60_000 + FILES * 2_000,
);
