import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { OutcomeLine } from '../../src/domain/outcome.ts';
import type { Summary } from '../../src/record/summary/summary.ts';
import { verifyRun } from '../../src/record/verify/verify.ts';
import { Cli, folderWith, guardsweep, printedRun, temporaryFolder } from '../helpers/cli.ts';
import { seed } from '../helpers/corpus.ts';
import { drawn } from '../helpers/pictures.ts';
import { writeMixedCorpus, type MixedCorpus } from '../helpers/mixed-corpus.ts';
import { jsonLines, killedAt, outcomes } from '../helpers/run-directory.ts';
import { syntheticGuard } from '../helpers/guards/shared-guard.ts';

/** By path below the corpus, and row: what became of an item. */
function told(lines: readonly OutcomeLine[]): Map<string, OutcomeLine> {
  return new Map(
    lines.map((line) => {
      const path = line.source.path.slice(line.source.path.indexOf('/') + 1);
      return [path + (line.source.row === null ? '' : `#${line.source.row}`), line];
    }),
  );
}

function expectAccounted(lines: readonly OutcomeLine[], corpus: MixedCorpus): void {
  expect(lines).toHaveLength(corpus.items);
  expect(lines.map(({ seq }) => seq)).toEqual(lines.map((_, seq) => seq));
  const outcome = told(lines);
  const codes = new Map([...outcome].flatMap(([name, { error }]) => (error ? [[name, error.code]] : [])));
  expect(Object.fromEntries(codes)).toEqual(Object.fromEntries(corpus.poisoned));
  for (const [path, id] of corpus.ids) expect(outcome.get(path)?.id).toBe(id);
}

it('a folder of 500 files of all kinds, 50 of which cannot be judged, adds up', async () => {
  const folder = await temporaryFolder();
  const corpus = await writeMixedCorpus(join(folder, 'uploads'), 500, seed());
  expect(corpus.files).toBeGreaterThanOrEqual(500);
  expect(corpus.poisoned.size).toBeGreaterThanOrEqual(50);
  const { address } = await syntheticGuard();
  const args = ['enqueue', 'uploads', '--guard', address, '--no-report', '--json'];
  const done = await guardsweep(args, { cwd: folder });
  expect([done.status, done.stderr]).toEqual([5, expect.not.stringContaining('Error')]);
  const summary = JSON.parse(done.stdout) as Summary;
  expectAccounted(await outcomes(summary.dir), corpus);
  expect(summary).toMatchObject({ items: corpus.items, errors: corpus.poisoned.size });
  expect(summary.verdicts + summary.errors).toBe(summary.items);
  expect(summary.unsupported_files).toMatchObject({ doc: 1, '7z': 1 });
  expect(await verifyRun(summary.dir, {})).toMatchObject({ ok: true, items: corpus.items });
});

it('images in messages are judged beside their conversations, and again by whoever resumes the run', async () => {
  const picture = await drawn(40, 30).png().toBuffer();
  const url = `data:image/png;base64,${picture.toString('base64')}`;
  const content = [
    { type: 'text', text: 'What is this?' },
    { type: 'image_url', image_url: { url } },
  ];
  const records = Array.from({ length: 200 }, (_, id) =>
    JSON.stringify({ id: `c${id}`, messages: [{ role: 'user', content }] }),
  );
  const cwd = await folderWith({ 'chats.jsonl': records.join('\n') });
  const { address } = await syntheticGuard();
  const cli = new Cli(['enqueue', 'chats.jsonl', '--guard', address, '--quiet'], { cwd });
  const run = await killedAt(cli, join(cwd, 'runs'), 1);
  expect((await guardsweep(['resume', run])).status).toBe(0);
  const lines = await outcomes(run);
  expect(lines.map(({ id, modality, status }) => [id, modality, status])).toEqual(
    records.flatMap((_, id) => [
      [`c${id}`, 'text', 'ok'],
      [`c${id}#image1`, 'image', 'ok'],
    ]),
  );
  const coverage = { unit: 'frames', judged: 1, total: 1 };
  expect(lines[1]).toMatchObject({ request_type: 'prompt', coverage });
  expect(await verifyRun(run, {})).toMatchObject({ ok: true, items: 400 });
});

it('says what to install when ffmpeg is missing, judges the rest, and the clips when it is there', async () => {
  const clip = await readFile(new URL('../fixtures/audio/layer-three.mp3', import.meta.url));
  const cwd = await folderWith({
    'corpus/note.md': 'A note.',
    'corpus/clip.mp3': clip,
    'corpus/clip.txt': 'What is said in the clip.',
  });
  const args = ['enqueue', 'corpus', '--guard', 'embedded:', '--no-report', '--quiet'];
  const done = await guardsweep(args, { cwd, env: { PATH: join(cwd, 'nothing') } });
  expect(done.status).toBe(5);
  expect(done.stdout).toMatch(/^Judged 1 of 2 items; 1 not judged$/m);
  expect(done.stdout).toMatch(
    /^ +1 {2}audio, and ffmpeg is missing: install it \(INTERNAL\)\nInstall ffmpeg: .*apt-get install ffmpeg/m,
  );
  const run = printedRun(done);
  const error = { code: 'INTERNAL', retryable: true, reason: 'ffmpeg_missing' };
  expect(await jsonLines(join(run, 'errors.jsonl'))).toMatchObject([{ modality: 'audio', error }]);
  const judged = expect.stringMatching(/^Judged 2 of 2 items; 0 not judged$/m) as string;
  expect(await guardsweep(['retry', run])).toMatchObject({ status: 0, stdout: judged });
  const nothing = expect.stringContaining('nothing to retry') as string;
  expect(await guardsweep(['retry', run])).toMatchObject({ status: 0, stderr: nothing });
});
