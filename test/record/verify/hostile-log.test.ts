import { writeFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { encodeChainLine } from '../../../src/record/log/chain-line.ts';
import { verifyRun } from '../../../src/record/verify/verify.ts';
import { finishedRun, resultOf, shardOf } from '../run-fixture.ts';

describe('a hostile log', () => {
  it('is left at the first shard that no plan has', async () => {
    const { dir } = await finishedRun([resultOf(shardOf(0, [0, 1]))]);
    const path = join(dir, 'log', '0001-commits.jsonl');
    const text = await readFile(path, 'utf8');
    const lines = text.trimEnd().split('\n');
    const at = lines.findIndex((line) => line.startsWith('{"shard":'));
    const commit = JSON.parse(lines[at]!) as Record<string, unknown>;
    delete commit['check'];
    const forged = encodeChainLine({ ...commit, shard: 2 ** 52 } as never);
    // As long as the true one, so that it is not the size of the file that tells.
    const rest = lines.slice(at + 1).join('\n');
    const bytes = `${[...lines.slice(0, at), forged].join('\n')}\n${rest}`.slice(0, text.length - 1);
    await writeFile(path, `${bytes}\n`);
    expect(await verifyRun(dir)).toEqual({
      ok: false,
      problem: `log/0001-commits.jsonl line ${at + 1} commits shard ${2 ** 52}, which is not planned`,
    });
  });
});
