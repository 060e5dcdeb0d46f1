import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { guardsweep, temporaryFolder } from '../helpers/cli.ts';

const CLIP = fileURLToPath(new URL('../fixtures/audio/layer-three.mp3', import.meta.url));

it('says before the run how many clips will not be judged, and decodes none of them', async () => {
  const home = await temporaryFolder();
  await mkdir(join(home, 'corpus'));
  await mkdir(join(home, 'bin'));
  for (const name of ['a', 'b', 'c']) await copyFile(CLIP, join(home, 'corpus', `${name}.mp3`));
  await writeFile(join(home, 'corpus/note.md'), 'A note.');
  // There is no ffmpeg to decode them with.
  const { status, stdout, stderr } = await guardsweep(
    ['enqueue', join(home, 'corpus'), '--guard', 'embedded:', '--out', join(home, 'runs')],
    { env: { PATH: join(home, 'bin') } },
  );
  expect(status).toBe(5);
  expect(stderr).toContain('this guard has no audio probe: 3 clips without a transcript will not be judged');
  expect(stdout).toMatch(/^Judged 1 of 4 items; 3 not judged$/m);
  const run = stdout.trimEnd().split('\n').at(-1)!;
  const errors = (await readFile(join(run, 'errors.jsonl'), 'utf8')).trimEnd().split('\n');
  expect(errors).toHaveLength(3);
  for (const line of errors) {
    expect(JSON.parse(line)).toMatchObject({
      modality: 'audio',
      error: { code: 'PROBE_NOT_LOADED', retryable: false },
    });
  }
});
