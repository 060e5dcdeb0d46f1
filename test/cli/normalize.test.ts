import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
  copyFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { OutputNames } from '../../src/cli/output-names.ts';
import { normalPixels } from '../../src/normalize/image/normalize-image.ts';
import { guardsweep, temporaryFolder } from '../helpers/cli.ts';

const FIXTURES = fileURLToPath(new URL('../fixtures/', import.meta.url));

describe('the names of normal forms', () => {
  it('are those of the files, numbered where they would be the same', () => {
    const names = new OutputNames();
    const paths = [
      'a/photo.jpg',
      'b/photo.png',
      'photo.mp3',
      'PHOTO.gif',
      '.hidden',
      'noextension',
      '..',
      'a.b.c',
    ];
    expect(paths.map((path) => names.next(path, path.endsWith('.mp3') ? 'wav' : 'png'))).toEqual([
      'photo.png',
      'photo-2.png',
      'photo.wav',
      'PHOTO-3.png',
      '.hidden.png',
      'noextension.png',
      'file.png',
      'a.b.png',
    ]);
  });
});

async function pixelsOf(bytes: Buffer): Promise<unknown> {
  const pixels = await normalPixels(bytes);
  return 'code' in pixels ? pixels : { ...pixels, rgb: Buffer.from(pixels.rgb) };
}

describe('guardsweep normalize', () => {
  it('writes PNG, WAV, or the code of why there is none, and nothing outside its folder', async () => {
    const folder = await temporaryFolder();
    const out = join(folder, 'made', 'out');
    mkdirSync(out, { recursive: true });
    const victim = join(folder, 'victim');
    writeFileSync(victim, 'untouched');
    symlinkSync(victim, join(out, 'palette.png'));
    writeFileSync(join(folder, 'page.jpg'), '<html></html>');
    const small = join(folder, 'small.jpg');
    await sharp({ create: { width: 40, height: 20, channels: 3, background: '#f80' } })
      .jpeg()
      .toFile(small);
    const palette = join(FIXTURES, 'images/palette.png');
    copyFileSync(join(FIXTURES, 'audio/plain.wav'), join(folder, 'palette.wav'));
    const files = [palette, join(folder, 'palette.wav'), small, join(folder, 'page.jpg')];
    const { status, stdout, stderr } = await guardsweep(['normalize', ...files, '--out', out]);
    expect(stderr).toBe('');
    expect(status).toBe(0);
    expect(stdout.split('\n')).toHaveLength(5);
    expect(readdirSync(out).sort()).toEqual(['page.error', 'palette.png', 'palette.wav', 'small.png']);
    expect(readFileSync(victim, 'utf8')).toBe('untouched');
    expect(lstatSync(join(out, 'palette.png')).isFile()).toBe(true);
    expect(readFileSync(join(out, 'page.error'), 'utf8')).toBe('UNSUPPORTED_TYPE\n');
    expect(readFileSync(join(out, 'palette.wav')).toString('latin1', 0, 4)).toBe('RIFF');
    for (const [file, name] of [
      [palette, 'palette.png'],
      [small, 'small.png'],
    ] as const) {
      const made = readFileSync(join(out, name));
      expect(made.toString('latin1', 1, 4)).toBe('PNG');
      expect(await pixelsOf(made)).toEqual(await pixelsOf(readFileSync(file)));
    }
  });

  it('is refused without a folder, and for what is no file', async () => {
    const folder = await temporaryFolder();
    const none = await guardsweep(['normalize', 'a.jpg']);
    expect([none.status, none.stderr]).toEqual([2, expect.stringContaining('--out')]);
    for (const wrong of [folder, join(folder, 'gone.jpg')]) {
      const out = join(folder, 'out');
      const { status } = await guardsweep(['normalize', wrong, '--out', out]);
      expect(status).toBe(2);
      expect(readdirSync(folder)).toEqual([]);
    }
  });
});
