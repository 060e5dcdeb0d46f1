import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { noteHead } from '../../../src/sink/note-head.ts';
import { verifyRun } from '../../../src/record/verify/verify.ts';
import { temporaryFolder } from '../../helpers/cli.ts';
import { reseal } from '../reseal.ts';
import { finishedRun, noted, resultOf, shardOf, signal, finishPass } from '../run-fixture.ts';

const HEAD = 'b'.repeat(64);

describe('verify with a head file', () => {
  it('wants the last head of the run at the end of the chain, and the earlier ones in it', async () => {
    const { dir, record, head } = await finishedRun([resultOf(shardOf(0, [0, 1]))]);
    const headFile = join(await temporaryFolder(), 'heads.jsonl');
    await noteHead(headFile, noted('another', 1, HEAD), signal);
    expect(await verifyRun(dir, { headFile })).toEqual({
      ok: false,
      problem: `heads.jsonl has no head of the run ${record.run}`,
    });
    await noteHead(headFile, noted(record.run, 1, head), signal);
    expect(await verifyRun(dir, { headFile })).toMatchObject({ ok: true });

    const log = await finishPass({ dir, record }, [resultOf(shardOf(1, [0], { pass: 2 }))]);
    expect(await verifyRun(dir, { headFile })).toMatchObject({
      ok: false,
      problem: expect.stringContaining('and the log continues after it') as string,
    });
    await noteHead(headFile, noted(record.run, 2, log.head), signal);
    expect(await verifyRun(dir, { headFile })).toMatchObject({ ok: true, pass: 2 });
  });

  it('finds a record that was made anew after a head that was noted', async () => {
    const { dir, record, head } = await finishedRun([resultOf(shardOf(0, [0, 1]))]);
    const headFile = join(await temporaryFolder(), 'heads.jsonl');
    await noteHead(headFile, noted(record.run, 1, head), signal);
    const forged = await reseal(dir, (manifest) => ({
      ...manifest,
      finished_at: '2020-01-01T00:00:00.000Z',
    }));
    expect(await verifyRun(dir, { headFile })).toEqual({
      ok: false,
      problem: `the chain head is ${forged}, not the expected one`,
    });
    // Whoever also gets their head noted does not get rid of the one before.
    await noteHead(headFile, noted(record.run, 1, forged), signal);
    expect(await verifyRun(dir, { headFile })).toEqual({
      ok: false,
      problem: 'the chain lacks the head of pass 1, recorded at 2026-11-21T02:00:00.000Z',
    });
  });
});
