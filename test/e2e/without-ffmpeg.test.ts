import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { folderWith, guardsweep, printedRun } from '../helpers/cli.ts';
import { jsonLines } from '../helpers/run-directory.ts';

const CLIP = await readFile(new URL('../fixtures/audio/layer-three.mp3', import.meta.url));
const ENQUEUE = ['enqueue', 'corpus', '--guard', 'embedded:', '--no-report'];

it('says what to install when ffmpeg is missing, judges the rest, and the clips when it is there', async () => {
  const cwd = await folderWith({
    ...{ 'corpus/note.md': 'A note.', 'corpus/clip.mp3': CLIP },
    'corpus/clip.txt': 'What is said in the clip.',
  });
  const done = await guardsweep([...ENQUEUE, '--quiet'], { cwd, env: { PATH: join(cwd, 'nothing') } });
  expect(done.status).toBe(5);
  expect(done.stdout).toMatch(/^Judged 1 of 2 items; 1 not judged$/m);
  expect(done.stdout).toMatch(
    /^ +1 {2}audio, and ffmpeg is missing: install it \(INTERNAL\)\nInstall ffmpeg: .*apt-get install ffmpeg/m,
  );
  const run = printedRun(done);
  expect(await jsonLines(join(run, 'errors.jsonl'))).toMatchObject([
    { modality: 'audio', error: { code: 'INTERNAL', retryable: true, reason: 'ffmpeg_missing' } },
  ]);
  const again = await guardsweep(['retry', run]);
  expect([again.status, again.stdout]).toEqual([
    0,
    expect.stringMatching(/^Judged 2 of 2 items; 0 not judged$/m),
  ]);
});
