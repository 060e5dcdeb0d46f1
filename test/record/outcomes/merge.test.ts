import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ItemCode } from '../../../src/domain/item-error.ts';
import type { Item, Lane } from '../../../src/domain/item.ts';
import type { OutcomeLine } from '../../../src/domain/outcome.ts';
import type { ShardResult } from '../../../src/domain/shard.ts';
import { verifyRun } from '../../../src/record/verify/verify.ts';
import { finishRun } from '../../../src/sink/final-files/finish.ts';
import { rounds, seed } from '../../helpers/corpus.ts';
import { knownItem, promptItem, settledItem } from '../../helpers/items.ts';
import { MODEL } from '../../helpers/moderation.ts';
import { jsonLines, outcomes } from '../../helpers/run-directory.ts';
import { claim, finishPass, newRun, signal, work } from '../run-fixture.ts';
import { failed, FINGERPRINT, verdict } from '../shards.ts';

const score = fc.double({ min: 0, max: 1, noNaN: true });
const code = fc.constantFrom<ItemCode>('TIMEOUT', 'GUARD_REJECTED', 'UNREADABLE_SOURCE', 'SOURCE_CHANGED');

/** How an item ends, and in which lane. */
const plan = fc.record({
  kind: fc.constantFrom('judged', 'reused', 'error', 'failed'),
  score,
  code,
  lane: fc.constantFrom<Lane>('text', 'chat'),
});
type Plan = typeof plan extends fc.Arbitrary<infer T> ? T : never;

const isError = ({ kind }: Plan): boolean => kind === 'error' || kind === 'failed';

function itemOf(seq: number, { kind, ...own }: Plan): Item {
  if (kind === 'failed') return settledItem(seq, own.code);
  return kind === 'reused' ? knownItem(seq, own.score) : promptItem(seq, `text ${seq}`);
}

/** The shards of a pass: neighbours of one lane, `size` at a time. */
function shardsOf(
  plans: ReadonlyMap<number, Plan>,
  of: { size: number; pass: number; first: number },
): ShardResult[] {
  const shards: ShardResult[] = [];
  for (const lane of ['text', 'chat'] as const) {
    const own = [...plans].filter(([, it]) => it.lane === lane).sort(([a], [b]) => a - b);
    for (let from = 0; from < own.length; from += of.size) {
      const items = own.slice(from, from + of.size).map(([seq, it]) => itemOf(seq, it));
      const judged = items.map((item) => {
        const { kind, score: value, code: error } = plans.get(item.seq)!;
        if (kind === 'judged') return verdict(item, { score: value, flagged: value >= 0.5 });
        return kind === 'error' ? failed(error) : null;
      });
      const shard = { shard: of.first + shards.length, pass: of.pass, lane, items };
      shards.push({ shard, outcomes: judged, fingerprints: [FINGERPRINT, MODEL] });
    }
  }
  return shards;
}

function check(lines: readonly OutcomeLine[], plans: ReadonlyMap<number, Plan>): void {
  expect(lines.map(({ seq }) => seq)).toEqual([...plans.keys()]);
  for (const { seq, score: value, decision, fingerprint, reused_from, error } of lines) {
    const it = plans.get(seq)!;
    const decided = it.score >= 0.5 ? 'block' : 'allow';
    const [model, from] = it.kind === 'reused' ? [MODEL.id, 'an-earlier-run'] : [FINGERPRINT.id, null];
    expect([value, decision, fingerprint, reused_from, error?.code ?? null]).toEqual(
      isError(it) ? [null, null, null, null, it.code] : [it.score, decided, model, from, null],
    );
  }
}

it('outcomes are in corpus order and add up, whatever the lanes, passes, errors and order of commits', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(plan, { minLength: 1, maxLength: 30 }),
      fc.array(fc.tuple(fc.nat(29), plan), { maxLength: 6 }),
      fc.record({ size: fc.integer({ min: 1, max: 5 }), left: fc.nat() }),
      async (items, again, { size, left }) => {
        const run = await newRun();
        const plans = new Map(items.entries());
        const first = shardsOf(plans, { size, pass: 1, first: 0 });
        const last = left % first.length;
        const order = [...first.keys()].filter((index) => index !== last).reverse();
        const log = await claim(run);
        await work(run.dir, log, first, order);
        const missing = new Set(first[last]!.shard.items.map(({ seq }) => seq));
        const known = items.filter((_, seq) => !missing.has(seq));
        const errors = known.filter(isError).length;
        const partial = { status: 'incomplete', verdicts: known.length - errors, errors };
        expect(await finishRun(log, signal)).toMatchObject(partial);

        await log.commit(first[last]!);
        expect(await finishRun(log, signal)).toMatchObject({ status: 'finished', items: items.length });
        await log.close();
        check(await outcomes(run.dir), plans);
        expect(await verifyRun(run.dir)).toMatchObject({ ok: true, items: items.length });

        // A pass judges only items again that have no verdict.
        const retried = new Map(again.filter(([seq]) => seq < items.length && isError(items[seq]!)));
        if (retried.size === 0) return;
        const second = shardsOf(retried, { size, pass: 2, first: first.length });
        expect((await finishPass(run, second)).summary).toMatchObject({ status: 'finished', pass: 2 });
        for (const [seq, it] of retried) plans.set(seq, it);
        const lines = await outcomes(run.dir);
        check(lines, plans);
        const failedLines = lines.filter(({ status }) => status === 'error');
        expect(await jsonLines(join(run.dir, 'errors.jsonl'))).toEqual(failedLines);
        expect(await verifyRun(run.dir)).toMatchObject({ ok: true, items: items.length });
      },
    ),
    { seed: seed(), numRuns: rounds(10) },
  );
});
