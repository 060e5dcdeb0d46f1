import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { expandSources } from '../../../src/ingest/discover/expand.ts';
import { CorpusBounds } from '../../../src/ingest/discover/within-corpora.ts';
import { temporaryFolder } from '../../helpers/cli.ts';
import { corpus, NEVER } from '../read-items.ts';

it.each([
  ['*', ['c/.threat.txt', 'c/a.txt']],
  ['*.txt', ['c/.threat.txt', 'c/a.txt']],
  ['**', ['c/.hidden/threat.txt', 'c/.threat.txt', 'c/a.txt']],
  ['**/*.txt', ['c/.hidden/threat.txt', 'c/.threat.txt', 'c/a.txt']],
])('the glob %s matches files whose names begin with a dot', async (glob, expected) => {
  const root = join(await temporaryFolder(), 'c');
  await mkdir(join(root, '.hidden'), { recursive: true });
  for (const path of ['a.txt', '.threat.txt', '.hidden/threat.txt']) await writeFile(join(root, path), 'x');
  const config = corpus(join(root, glob));
  const { sources } = await expandSources([config], NEVER);
  expect(sources.map(({ path }) => path)).toEqual(expected);
  const bounds = new CorpusBounds([config]);
  expect(sources.map((source) => bounds.pathOutside(source))).toEqual(expected.map(() => null));
});
