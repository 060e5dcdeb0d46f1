import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { confined } from '../../src/confinement/confined.ts';
import { drawn } from '../helpers/pictures.ts';
import { settled } from '../helpers/settled.ts';
import { childrenNamed, isAlive } from '../normalize/audio/processes.ts';
import { temporaryFolder } from '../helpers/cli.ts';

const MP3 = fileURLToPath(new URL('../fixtures/audio/layer-three.mp3', import.meta.url));
/** As it is built: decoders of images are processes, which run compiled code. */
const NORMALIZER = new URL('../../dist/src/normalize/normalizer.js', import.meta.url).href;

const LIMITS = { memoryBytes: 2 ** 30, reads: null };

/** Has images and a clip decoded, for ever. */
const PARENT = `
  import { open, readFile } from 'node:fs/promises';
  const { Normalizer } = await import(process.env.NORMALIZER);
  const normalizer = Normalizer.open({ image: { processes: 2 }, audio: { env: { PATH: process.env.BIN } } });
  const { signal } = new AbortController();
  void normalizer.audio(await open(process.env.CLIP), { long: 'windows', signal, each: async () => {} });
  const image = await readFile(process.env.IMAGE);
  for (;;) await Promise.all([1, 2].map(() => normalizer.image(image, { frames: 1, signal })));
`;

it('leaves no helper behind when the process that started them is killed, not even one that hangs', async () => {
  const home = await temporaryFolder();
  const ffmpeg = join(home, 'ffmpeg');
  await writeFile(ffmpeg, '#!/bin/sh\nexec /bin/sleep 1000\n', { mode: 0o755 });
  const image = join(home, 'image.png');
  await drawn(2000, 1500).png().toFile(image);
  const parent = spawn(process.execPath, ['--input-type=module', '-e', PARENT], {
    env: { ...process.env, NORMALIZER, BIN: home, CLIP: MP3, IMAGE: image },
    stdio: 'inherit',
  });
  onTestFinished(() => void parent.kill('SIGKILL'));
  const pid = parent.pid!;
  const children = (name: string): number[] => childrenNamed(name, pid);
  await settled(() => children('sleep').length === 1 && children('node').length === 2);
  const helpers = [...children('sleep'), ...children('node')];
  // one decoder works on, the others hear of nothing any more
  for (const helper of helpers.slice(0, 2)) process.kill(helper, 'SIGSTOP');
  parent.kill('SIGKILL');
  await once(parent, 'exit');
  await settled(() => !helpers.some(isAlive));
});

it('starts nothing for a parent that has died meanwhile', () => {
  const run = (parent?: number): string => {
    const { command, args } = confined('echo', ['here'], { ...LIMITS, ...(parent && { parent }) });
    return String(spawnSync(command, args).stdout);
  };
  expect(run()).toBe('here\n');
  const gone = spawnSync('true').pid;
  expect(run(gone)).toBe('');
});

it('passes arguments, status and a missing program on', () => {
  const given = ['-c', 'printf "%s|" "$@"; exit 7', 'sh', 'a b', '$PATH', ''];
  const { command, args } = confined('sh', given, LIMITS);
  const { stdout, status } = spawnSync(command, args);
  expect([String(stdout), status]).toEqual(['a b|$PATH||', 7]);
  const missing = confined('no-such-program', [], LIMITS);
  expect(spawnSync(missing.command, missing.args).status).toBe(127);
  expect(execFileSync('setpriv', ['--version']).toString()).toContain('util-linux');
});
