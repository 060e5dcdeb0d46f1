import { spawn, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { verifyRun } from '../../src/record/verify/verify.ts';
import { normalPixels } from '../../src/normalize/image/normalize-image.ts';
import { folderWith, guardsweep, MAIN } from '../helpers/cli.ts';
import { onlyRun } from '../helpers/run-directory.ts';
import { typed } from './terminal.ts';

it('the report of a run is written after a run, outside its record, and again or elsewhere on demand', async () => {
  const cwd = await folderWith({ 'rows.csv': 'id,text\nfirst-id,hello\nsecond-id,I will kill you\n' });
  const enqueued = await guardsweep(['enqueue', 'rows.csv'], { cwd });
  const dir = await onlyRun(join(cwd, 'runs'));
  const path = join(dir, 'report.html');
  expect(enqueued.stderr).toContain(`guardsweep: report: ${path}\n`);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  const [manifest = ''] = (await readFile(join(dir, 'manifest.sha256'), 'utf8')).split(' ');
  const report = await readFile(path, 'utf8');
  expect(report).toContain(manifest);
  expect(report).toContain('second-id');
  expect(report).not.toContain('I will kill you');
  expect(await verifyRun(dir)).toMatchObject({ ok: true });

  const command = (args: readonly string[]) => typed(args, { context: { cwd } });
  const again = await command(['report', dir]);
  expect([again.status, again.stdout]).toEqual([0, `${path}\n`]);
  const elsewhere = ['report', dir, '--out', join(cwd, 'other.html')];
  expect((await command(elsewhere)).stdout).toBe(`${join(cwd, 'other.html')}\n`);
  const taken = await command(elsewhere);
  expect([taken.status, taken.stderr]).toEqual([2, 'guardsweep: --out: the file already exists\n']);
  const inside = await command(['report', dir, '--out', join(dir, 'other.html')]);
  expect(inside.status).toBe(2);
  expect(await readdir(dir)).not.toContain('other.html');
});

const FIXTURES = fileURLToPath(new URL('../fixtures/', import.meta.url));

async function pixelsOf(bytes: Buffer): Promise<unknown> {
  const pixels = await normalPixels(bytes, async () => {});
  return 'code' in pixels ? pixels : { ...pixels, rgb: Buffer.from(pixels.rgb) };
}

it('guardsweep normalize writes PNG and WAV, names files that have no normal form, and overwrites and follows nothing', async () => {
  const clip = readFileSync(join(FIXTURES, 'audio/plain.wav'));
  const picture = readFileSync(join(FIXTURES, 'images/palette.png'));
  const media = { 'palette.png': picture, 'linked.wav': clip, 'clip.wav': clip };
  const folder = await folderWith({ victim: 'untouched', 'page.jpg': '<html></html>', ...media });
  const [out, victim] = [join(folder, 'made/out'), join(folder, 'victim')];
  await mkdir(out, { recursive: true });
  await symlink(victim, join(out, 'linked.wav.wav'));
  const files = ['palette.png', 'page.jpg', 'gone.png', 'linked.wav', 'clip.wav'];
  const normalize = ['normalize', ...files, '--out', out];
  const { status, stdout, stderr } = await typed(normalize, { context: { cwd: folder } });
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
  expect(await pixelsOf(png)).toEqual(await pixelsOf(picture));
});

it.runIf(process.platform === 'linux').each([
  ['stderr', 2, 'is dropped', 0],
  ['stdout', 1, 'is a result that was lost', 4],
])('what cannot be written to %s (%i) %s: the run comes to its end, with status %i', async (...given) => {
  const [, stream, , status] = given;
  const folder = await folderWith({ 'uploads/a.csv': 'id,text\n1,hello\n2,hello again\n' });
  const out = join(folder, 'runs');
  // A device that is always full.
  const full = openSync('/dev/full', 'w');
  onTestFinished(() => closeSync(full));
  const stdio: StdioOptions = ['ignore', 'ignore', 'ignore'];
  stdio[stream] = full;
  const args = [MAIN, 'enqueue', join(folder, 'uploads'), '--out', out, '--no-report'];
  const child = spawn(process.execPath, args, { stdio });
  await once(child, 'close');
  expect(child.exitCode).toBe(status);
  expect(await verifyRun(await onlyRun(out))).toMatchObject({ ok: true, verdicts: 2 });
});
