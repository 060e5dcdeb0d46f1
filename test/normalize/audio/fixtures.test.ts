import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { sharedFolder } from '../../helpers/cli.ts';
import { hear, normalizer, samples, toneShare } from './clips.ts';

/** Every file in the folder is a test: a clip beside what is expected of it. */
const FOLDER = fileURLToPath(new URL('../../fixtures/audio/', import.meta.url));
const EXPECTED = z.strictObject({ seconds: z.number(), tone: z.number().nullable() });
/** Encoders pad: AAC most of all, by up to 40 ms. */
const PADDING_SECONDS = 0.05;

const clips = readdirSync(FOLDER).filter((name) => !/\.(?:json|error|sh)$/.test(name));
const refused = clips.filter((clip) => existsSync(`${FOLDER}${clip}.error`));
const heard = clips.filter((clip) => !refused.includes(clip));

it.each(refused)('what is refused: %s', async (clip) => {
  const code = readFileSync(`${FOLDER}${clip}.error`, 'utf8').trim();
  expect(await hear(normalizer(), FOLDER + clip)).toMatchObject({ end: { code }, windows: [] });
});

describe('what is heard, to the bit as ffmpeg does by its own lights (C-804, C-805)', () => {
  const references = sharedFolder();

  beforeAll(() => {
    const inputs = heard.flatMap((clip) => ['-i', FOLDER + clip]);
    const outputs = heard.flatMap((clip, index) => [
      ...['-map', `${index}:a:0`, '-ac', '1', '-ar', '16000', '-f', 's16le', join(references, clip)],
    ]);
    execFileSync('ffmpeg', ['-nostdin', '-loglevel', 'quiet', ...inputs, ...outputs]);
  });

  it.each(heard)('%s', async (clip) => {
    const { seconds, tone } = EXPECTED.parse(JSON.parse(readFileSync(`${FOLDER}${clip}.json`, 'utf8')));
    const { end, windows } = await hear(normalizer(), FOLDER + clip);
    const pcm = samples(windows);
    const heardSeconds = pcm.length / 2 / 16_000;
    expect(end).toEqual({ windowSeconds: heardSeconds, totalSeconds: heardSeconds });
    expect(Math.abs(heardSeconds - seconds)).toBeLessThan(PADDING_SECONDS);
    expect(pcm.equals(readFileSync(join(references, clip)))).toBe(true);
    if (tone !== null) expect(toneShare(pcm, tone)).toBeGreaterThan(0.9);
  });
});
