import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { BUILT_IN_CANARIES, CANARY_PICTURE } from '../../src/domain/canary/built-in.ts';
import type { CanaryCheck } from '../../src/domain/canary/canary-check.ts';
import { readManifest } from '../../src/record/manifest/manifest.ts';
import { verifyRun } from '../../src/record/verify/verify.ts';
import { folderWith, guardsweep } from '../helpers/cli.ts';
import { guard, restGuard } from '../helpers/guards/guard-pool.ts';
import { drawn } from '../helpers/pictures.ts';
import { onlyRun } from '../helpers/run-directory.ts';

async function picture(): Promise<{ folder: string; enqueue: string[] }> {
  const folder = await folderWith({ 'meadow.png': CANARY_PICTURE });
  return { folder, enqueue: ['enqueue', 'meadow.png', '--out', 'runs', '--guard'] };
}

async function checksIn(folder: string): Promise<readonly CanaryCheck[]> {
  const run = await onlyRun(join(folder, 'runs'));
  expect(await verifyRun(run)).toMatchObject({ ok: true });
  return (await readManifest(run)).canaries.checks;
}

it('the embedded guard answers every built-in canary as expected, those with a picture before it judges one', async () => {
  const { folder, enqueue } = await picture();
  const done = await guardsweep([...enqueue, 'embedded:'], { cwd: folder });
  expect(done).toMatchObject({ status: 0 });
  const checks = await checksIn(folder);
  expect(checks.map(({ modality }) => modality)).toEqual(['text', 'image', 'text', 'image']);
  const answers = checks.slice(0, 2).flatMap((check) => check.answers);
  const asked = BUILT_IN_CANARIES.filter(({ modality }) => modality !== 'audio');
  expect(answers.map(({ name, passed }) => [name, passed])).toEqual(asked.map(({ name }) => [name, true]));
  expect(done.stderr + done.stdout).toContain('Canaries: 22 of 22 as expected in 4 checks');
});

it('a guard that lets every picture pass stops the run with status 4, and no final file is written', async () => {
  const { folder, enqueue } = await picture();
  const texts = BUILT_IN_CANARIES.filter(({ modality }) => modality === 'text').length;
  let asked = 0;
  const server = await guard({ canaries: () => (asked++ < texts ? 'right' : 'flags none') });
  const done = await guardsweep([...enqueue, server.address], { cwd: folder });
  expect(done.status).toBe(4);
  expect(done.stderr).toContain(
    `guard ${server.address} failed the image canaries (built in): it flagged none of 2 violating contents: picture-bomb`,
  );
  expect(server.seen).toEqual([]);
  const run = await onlyRun(join(folder, 'runs'));
  await expect(readManifest(run)).rejects.toThrow('was not finished');
});

it('a picture of a file of canaries is brought into normal form, and skipped by a guard without a probe', async () => {
  const { folder, enqueue } = await picture();
  await writeFile(join(folder, 'a.txt'), 'A text to judge.');
  const own = '- {name: meadow, modality: image, file: meadow.png, expect: allowed}\n';
  await writeFile(join(folder, 'own.yaml'), own);
  await drawn(900, 300).png().toFile(join(folder, 'meadow.png'));
  const server = await restGuard({
    script: ({ modality }) => (modality === 'image' ? { status: 404, body: '' } : undefined),
  });
  const flags = [server.address, '--canaries', 'own.yaml'];
  // The picture of the corpus cannot be judged either.
  expect(await guardsweep([...enqueue, ...flags, 'a.txt'], { cwd: folder })).toMatchObject({ status: 5 });
  const widths = server.seen.flatMap(({ file }) => file?.bytes.readUInt32BE(16) ?? []);
  expect(widths).toEqual([512, 512, 512]);
});
