import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { guardsweep, temporaryFolder } from '../helpers/cli.ts';

const CLIP = fileURLToPath(new URL('../fixtures/audio/layer-three.mp3', import.meta.url));

it('says what to install when ffmpeg is missing, judges the rest, and the clips when it is there', async () => {
  const home = await temporaryFolder();
  await mkdir(join(home, 'corpus'));
  await mkdir(join(home, 'bin'));
  await writeFile(join(home, 'corpus/note.md'), 'A note.');
  await copyFile(CLIP, join(home, 'corpus/clip.mp3'));
  await writeFile(join(home, 'corpus/clip.txt'), 'What is said in the clip.');

  const args = [
    'enqueue',
    join(home, 'corpus'),
    '--guard',
    'embedded:',
    '--out',
    join(home, 'runs'),
    '--quiet',
  ];
  const { status, stdout } = await guardsweep(args, { env: { PATH: join(home, 'bin') } });
  const run = stdout.trimEnd().split('\n').at(-1)!;
  expect(status).toBe(5);
  expect(stdout).toMatch(/^Judged 1 of 2 items; 1 not judged$/m);
  expect(stdout).toMatch(
    /^ +1 {2}audio, and ffmpeg is missing: install it \(INTERNAL\)\nInstall ffmpeg: .*apt-get install ffmpeg/m,
  );
  const [error] = (await readFile(join(run, 'errors.jsonl'), 'utf8')).trimEnd().split('\n');
  expect(JSON.parse(error!)).toMatchObject({
    modality: 'audio',
    error: {
      code: 'INTERNAL',
      message: expect.stringContaining('install') as string,
      retryable: true,
      reason: 'ffmpeg_missing',
    },
  });

  const again = await guardsweep(['retry', run]);
  expect(again.stdout).toMatch(/^Judged 2 of 2 items; 0 not judged$/m);
  expect(again.status).toBe(0);
});
