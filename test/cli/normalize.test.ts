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
import { OutputNames } from '../../src/cli/normalize/named-files.ts';
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

describe('names that would not do', () => {
  const next = (names: OutputNames, path: string): string => names.next(path, 'png');

  it('are cut to what file systems take, each still once, and between characters', () => {
    const names = new OutputNames();
    for (const character of ['a', 'é', '日', '🎈']) {
      const long = character.repeat(Math.floor(255 / Buffer.byteLength(character)));
      const made = [next(names, `${long}.jpg`), next(names, long), names.next(long, 'error')];
      expect(new Set(made).size).toBe(3);
      for (const name of made) {
        expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
        expect(Buffer.byteLength(name)).toBeGreaterThan(248);
        expect(name).toMatch(new RegExp(`^${character}+(?:-2)?[.](?:png|error)$`, 'u'));
      }
    }
  });

  it('are numbered when a file system takes them for the same, however many there are', () => {
    const names = new OutputNames();
    expect([next(names, 'caf\u00e9.jpg'), next(names, 'CAFE\u0301.gif')]).toEqual([
      'caf\u00e9.png',
      'CAFE\u0301-2.png',
    ]);
    const many = Array.from({ length: 20_000 }, (_, folder) => next(names, `${folder}/photo.jpg`));
    expect(new Set(many).size).toBe(20_000);
    expect(many.at(-1)).toBe('photo-20000.png');
    expect(next(names, 'photo-7.jpg')).toBe('photo-7-2.png');
  });
});

async function pixelsOf(bytes: Buffer): Promise<unknown> {
  const pixels = await normalPixels(bytes, async () => {});
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

  it('makes the others when one has a name of 255 bytes, one that is not UTF-8, or one that is in the way', async () => {
    const folder = await temporaryFolder();
    const out = join(folder, 'out');
    const photo = await sharp({ create: { width: 4, height: 2, channels: 3, background: '#f80' } })
      .png()
      .toBuffer();
    const long = 'n'.repeat(255);
    mkdirSync(join(out, 'blocked.png'), { recursive: true });
    const latin1 = Buffer.concat([Buffer.from(`${folder}/`), Buffer.from('gr\u00fcn.png', 'latin1')]);
    for (const path of [latin1, ...[long, 'blocked.png', 'last.png'].map((name) => join(folder, name))]) {
      writeFileSync(path, photo);
    }
    // as an argument that is not UTF-8 arrives
    const files = [long, 'blocked.png', 'gr\ufffdn.png', String.raw`gr\xfcn.png`, 'last.png'];
    const { status, stdout, stderr } = await guardsweep(['normalize', ...files, '--out', out], {
      cwd: folder,
    });
    expect(stderr).toMatch(/^blocked\.png: no normal form could be written \(\w+\)\n.*1 of 5 normal forms/s);
    expect(status).toBe(1);
    expect(stdout.trim().split('\n')).toHaveLength(4);
    const made = readdirSync(out).sort();
    expect(made).toHaveLength(5);
    expect(made).toContain(`${'n'.repeat(251)}.png`);
    expect(made).toContain('last.png');
    expect(made).toContain('gr\ufffdn.png');
    expect(made).toContain(String.raw`gr\xfcn.png`);
  });

  it('is refused for a name that two files can have', async () => {
    const folder = await temporaryFolder();
    for (const byte of [0xe4, 0xfc]) {
      writeFileSync(
        Buffer.concat([Buffer.from(`${folder}/gr`), Buffer.from([byte]), Buffer.from('n.png')]),
        '',
      );
    }
    const { status, stderr } = await guardsweep(['normalize', 'gr\ufffdn.png', '--out', 'out'], {
      cwd: folder,
    });
    expect([status, stderr]).toEqual([2, expect.stringContaining('2 files can be meant')]);
  });
});
