import { copyFileSync, readdirSync, readFileSync, symlinkSync, writeFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { normalPixels } from '../../src/normalize/image/normalize-image.ts';
import { guardsweep, temporaryFolder } from '../helpers/cli.ts';

const FIXTURES = fileURLToPath(new URL('../fixtures/', import.meta.url));

async function pixelsOf(bytes: Buffer): Promise<unknown> {
  const pixels = await normalPixels(bytes, async () => {});
  return 'code' in pixels ? pixels : { ...pixels, rgb: Buffer.from(pixels.rgb) };
}

it('guardsweep normalize writes PNG and WAV, names files that have no normal form, and overwrites and follows nothing', async () => {
  const folder = await temporaryFolder();
  const out = join(folder, 'made', 'out');
  mkdirSync(out, { recursive: true });
  const victim = join(folder, 'victim');
  writeFileSync(victim, 'untouched');
  writeFileSync(join(folder, 'linked.wav'), readFileSync(join(FIXTURES, 'audio/plain.wav')));
  symlinkSync(victim, join(out, 'linked.wav.wav'));
  writeFileSync(join(folder, 'page.jpg'), '<html></html>');
  copyFileSync(join(FIXTURES, 'images/palette.png'), join(folder, 'palette.png'));
  copyFileSync(join(FIXTURES, 'audio/plain.wav'), join(folder, 'clip.wav'));
  const files = ['palette.png', 'page.jpg', 'gone.png', 'linked.wav', 'clip.wav'];
  const { status, stdout, stderr } = await guardsweep(['normalize', ...files, '--out', out], {
    cwd: folder,
  });
  expect(status).toBe(1);
  expect(stdout.split('\n').map((line) => line.split(' -> ')[0])).toEqual(['palette.png', 'clip.wav', '']);
  expect(stderr.split('\n')).toEqual([
    'page.jpg: UNSUPPORTED_TYPE, text named like an image, expected an image or audio',
    'gone.png: ENOENT',
    'linked.wav: EEXIST',
    'guardsweep: 3 of 5 files have no normal form',
    '',
  ]);
  expect(readdirSync(out).sort()).toEqual(['clip.wav.wav', 'linked.wav.wav', 'palette.png.png']);
  expect(readFileSync(victim, 'utf8')).toBe('untouched');
  expect(readFileSync(join(out, 'clip.wav.wav')).toString('latin1', 0, 4)).toBe('RIFF');
  const png = readFileSync(join(out, 'palette.png.png'));
  expect(png.toString('latin1', 1, 4)).toBe('PNG');
  expect(await pixelsOf(png)).toEqual(await pixelsOf(readFileSync(join(folder, 'palette.png'))));
});
