import { mkdir, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { KeptVerdicts, openRunStore } from '../../../src/fleet/sink/run-store.ts';
import { pathExists } from '../../../src/files/folders.ts';
import { temporaryFolder } from '../../helpers/cli.ts';
import { newRun, signal } from '../../record/run-fixture.ts';
import { resultOf, shardOf } from '../../record/shards.ts';

/** A run whose store is `store`, relative to the output folder, and how a sink for some roots keeps its verdicts. */
async function sinkFor(store: string, rootsIn: (out: string) => string[]) {
  const { dir, record: plain } = await newRun();
  const out = dirname(dir);
  const record = { ...plain, config: { ...plain.config, store: join(out, store), reuse: true } };
  const said: string[] = [];
  const options = { keyFile: null, say: (line: string) => void said.push(line), signal };
  const run = { dir, record };
  const kept = new KeptVerdicts(run, (held) => openRunStore(held, { ...options, roots: rootsIn(out) }));
  return { out, kept, said };
}

it('the sink writes no store outside its folders, and says so once', async () => {
  const { out, kept, said } = await sinkFor('../elsewhere', (folder) => [join(folder, 'only-here'), folder]);
  await kept.add(resultOf(shardOf(0, [0])));
  await kept.add(resultOf(shardOf(1, [1])));
  await kept.close();
  expect(said).toEqual([expect.stringMatching(/is not below a folder of this sink \(--root\)/)]);
  expect(await pathExists(join(out, '..', 'elsewhere'))).toBe(false);
});

it('a link in the folders of a sink leads no store out of them', async () => {
  const outside = await temporaryFolder();
  const { out, kept, said } = await sinkFor('linked/store', (folder) => [folder]);
  await mkdir(join(outside, 'target'));
  await symlink(join(outside, 'target'), join(out, 'linked'));
  await kept.add(resultOf(shardOf(0, [0])));
  await kept.close();
  expect(said).toHaveLength(1);
  expect(await pathExists(join(outside, 'target', 'store'))).toBe(false);
});
