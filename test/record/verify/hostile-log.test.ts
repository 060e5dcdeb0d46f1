import { writeFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commitsName } from '../../../src/files/run-files.ts';
import { encodeChainLine, lineHash, type ClaimLine } from '../../../src/record/log/chain-line.ts';
import { readChain } from '../../../src/record/log/read-chain.ts';
import { verifyRun } from '../../../src/record/verify/verify.ts';
import { finishedRun, newRun, resultOf, shardOf, signal } from '../run-fixture.ts';

const AT = '2026-11-21T02:00:00.000Z';

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

  it('with much damage in many claims is read in memory that grows with its size', async () => {
    const { dir } = await newRun();
    const EPOCHS = 1500;
    const SHARDS = 200;
    let continues: ClaimLine['continues'] = (await readChain(dir, { signal })).position;
    for (let epoch = 1; epoch <= EPOCHS; epoch++) {
      const shards = Array.from({ length: SHARDS }, (_, index) => epoch * SHARDS + index);
      const line = encodeChainLine({
        claim: epoch,
        continues,
        at: AT,
        damage: { at: 'plan.jsonl', outcomes: 1, shards },
      });
      await writeFile(join(dir, 'log', commitsName(epoch)), `${line}\n`);
      continues = { epoch, lines: 1, head: lineHash(line) };
    }
    const chain = await readChain(dir, { signal });
    expect([chain.position.epoch, chain.damages.length]).toEqual([EPOCHS, EPOCHS]);
  });
});
