import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ChainTail } from '../../../src/record/log/chain-tail.ts';
import { claimLog } from '../../../src/sink/verdict-log/claim-log.ts';
import { takeNextEpoch } from '../../../src/sink/verdict-log/take-epoch.ts';
import { newRun, signal } from '../run-fixture.ts';
import { resultOf, shardOf } from '../shards.ts';

const one = (shard: number) => resultOf(shardOf(shard, [shard]));
const options = { signal, report: () => {} };

describe('a tail of the verdict log', () => {
  it('sees what is committed, over epochs, and nothing of one that was overtaken', async () => {
    const { dir, record } = await newRun();
    const tail = await ChainTail.open(dir, signal);
    expect(await tail.poll()).toBe(false);
    const first = await claimLog(dir, record, options);
    await first.commit(one(0));
    await first.commit(one(1));
    expect(await tail.poll()).toBe(true);
    expect([0, 1, 2].map((shard) => tail.isCommitted(shard))).toEqual([true, true, false]);
    const second = await claimLog(dir, record, options);
    await first.close();
    await second.commit(one(2));
    await tail.poll();
    await second.commit(one(3));
    await tail.poll();
    expect(tail.shards).toBe(4);
    expect(tail.counts(1).items).toBe(4);

    // A later epoch is taken, and has not said yet what it continues.
    const { commits } = await takeNextEpoch(dir);
    await commits.close();
    await appendFile(join(dir, 'log', '0002-commits.jsonl'), '{"shard":4}\n');
    expect(await tail.poll()).toBe(false);
    expect(tail.shards).toBe(4);
    await expect(second.commit(one(4))).rejects.toThrow('another process');
    await second.close();
  });
});
