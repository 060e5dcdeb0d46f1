import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ItemCode } from '../../../src/domain/item-error.ts';
import type { Item, Lane } from '../../../src/domain/item.ts';
import type { OutcomeLine } from '../../../src/domain/outcome.ts';
import type { ShardResult } from '../../../src/domain/shard.ts';
import { withCheck, withoutCheck } from '../../../src/files/checked-line.ts';
import { readChain } from '../../../src/record/log/read-chain.ts';
import { LineFiles } from '../../../src/record/outcomes/line-files.ts';
import { outlinePlan } from '../../../src/record/outcomes/plan-outline.ts';
import { runTotals } from '../../../src/record/outcomes/run-totals.ts';
import { summaryLines } from '../../../src/record/summary/summary-text.ts';
import { shardCheck } from '../../../src/record/verify/shard-check.ts';
import { verifyRun } from '../../../src/record/verify/verify.ts';
import { retryableItems } from '../../../src/runs/retry-selection.ts';
import { finishRun } from '../../../src/sink/final-files/finish.ts';
import { seed } from '../../helpers/corpus.ts';
import { copiedItem, knownItem, promptItem, settledItem } from '../../helpers/items.ts';
import { MODEL } from '../../helpers/moderation.ts';
import { jsonLines, outcomes } from '../../helpers/run-directory.ts';
import { reseal } from '../reseal.ts';
import { claim, failed, finishedRun, FINGERPRINT, newRun, signal, verdict, work } from '../run-fixture.ts';

const SEED = seed();

/** How an item ends: what it is, and the outcome that it has of its own. */
type Plan = { readonly text: string } & (
  | { readonly kind: 'judged'; readonly score: number }
  | { readonly kind: 'error'; readonly code: ItemCode }
  | { readonly kind: 'known'; readonly score: number }
  | { readonly kind: 'failed'; readonly code: ItemCode }
  | { readonly kind: 'copy'; readonly sameAs: number }
);

function itemOf(seq: number, plan: Plan): Item {
  if (plan.kind === 'copy') return copiedItem(seq, plan.text, plan.sameAs);
  if (plan.kind === 'failed') return settledItem(seq, plan.code);
  const judged = promptItem(seq, plan.text);
  if (plan.kind !== 'known') return judged;
  return { ...knownItem(seq, plan.score), contentSha256: judged.contentSha256 };
}

function resultOf(
  plans: ReadonlyMap<number, Plan>,
  of: { shard: number; pass: number; lane: Lane },
): ShardResult {
  const seqs = [...plans.keys()].sort((a, b) => a - b);
  const items = seqs.map((seq) => itemOf(seq, plans.get(seq)!));
  const own = items.map((item) => {
    const plan = plans.get(item.seq)!;
    if (plan.kind === 'judged') return verdict(item, { score: plan.score, flagged: plan.score >= 0.5 });
    return plan.kind === 'error' ? failed(plan.code) : null;
  });
  return { shard: { ...of, items }, outcomes: own, fingerprints: [FINGERPRINT, MODEL] };
}

/** What of an outcome line a copy takes over, or gets instead. */
type Ending = Pick<OutcomeLine, 'score' | 'decision' | 'fingerprint' | 'reused_from'> & {
  readonly error: string | null;
};

const NOT_JUDGED = { score: null, decision: null, fingerprint: null, reused_from: null };

/** The naive model: each item's plan of the highest pass, and copies looked up in it. Null: none yet. */
function endingOf(seq: number, plans: ReadonlyMap<number, Plan>, isComplete: boolean): Ending | null {
  const plan = plans.get(seq);
  if (plan === undefined) return null;
  switch (plan.kind) {
    case 'error':
    case 'failed':
      return { ...NOT_JUDGED, error: plan.code };
    case 'known':
    case 'judged': {
      const isKnown = plan.kind === 'known';
      return {
        score: plan.score,
        decision: plan.score >= 0.5 ? 'block' : 'allow',
        fingerprint: isKnown ? MODEL.id : FINGERPRINT.id,
        reused_from: isKnown ? 'an-earlier-run' : null,
        error: null,
      };
    }
    case 'copy': {
      const original = plan.sameAs < seq ? plans.get(plan.sameAs) : undefined;
      if (original === undefined && !isComplete && plan.sameAs < seq) return null;
      const isOfContent =
        original !== undefined &&
        original.kind !== 'copy' &&
        original.kind !== 'failed' &&
        original.text === plan.text &&
        !(original.kind === 'error' && ['UNREADABLE_SOURCE', 'SOURCE_CHANGED'].includes(original.code));
      return isOfContent ? endingOf(plan.sameAs, plans, isComplete) : { ...NOT_JUDGED, error: 'INTERNAL' };
    }
  }
}

const score = fc.double({ min: 0, max: 1, noNaN: true });
const code = fc.constantFrom<ItemCode>('TIMEOUT', 'GUARD_REJECTED', 'UNREADABLE_SOURCE', 'SOURCE_CHANGED');

/** An item that is no copy, or a copy of the item that is so many before it, or after it. */
const plan = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('judged' as const), score }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('known' as const), score }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('error' as const, 'failed' as const), code }) },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('copy' as const), back: fc.integer({ min: -2, max: 12 }) }),
  },
);

const planned = fc.record({
  plan,
  text: fc.constantFrom('a', 'b'),
  lane: fc.constantFrom<Lane>('text', 'chat'),
});
type Planned = typeof planned extends fc.Arbitrary<infer T> ? T : never;

function planOf(seq: number, { plan: own, text }: Planned): Plan {
  return own.kind === 'copy' ? { kind: 'copy', text, sameAs: Math.max(0, seq - own.back) } : { ...own, text };
}

/** The shards of a pass: neighbours of one lane, so many at once. */
function shardsOf(
  items: readonly (readonly [seq: number, Planned])[],
  of: { size: number; pass: number; first: number },
): ShardResult[] {
  const shards: ShardResult[] = [];
  for (const lane of ['text', 'chat'] as const) {
    const own = items.filter(([, planned]) => planned.lane === lane);
    for (let from = 0; from < own.length; from += of.size) {
      const plans = new Map(own.slice(from, from + of.size).map(([seq, it]) => [seq, planOf(seq, it)]));
      shards.push(resultOf(plans, { shard: of.first + shards.length, pass: of.pass, lane }));
    }
  }
  return shards;
}

function check(line: OutcomeLine, plans: ReadonlyMap<number, Plan>): void {
  const { score, decision, fingerprint, reused_from, error, same_as, attempts } = line;
  const own = plans.get(line.seq)!;
  expect({ score, decision, fingerprint, reused_from, error: error?.code ?? null }).toEqual(
    endingOf(line.seq, plans, true),
  );
  expect(same_as).toBe(own.kind === 'copy' ? own.sameAs : null);
  if (own.kind === 'copy') expect(attempts).toBe(0);
  expect(line.id).toBe(`corpus.csv#${line.seq + 1}`);
}

/** An item and its copy, a verdict of an earlier run and its copy. */
const ITEMS_AND_COPIES = new Map<number, Plan>([
  [0, { kind: 'judged', score: 0.93, text: 'a' }],
  [1, { kind: 'copy', sameAs: 0, text: 'a' }],
  [2, { kind: 'known', score: 0.25, text: 'b' }],
  [3, { kind: 'copy', sameAs: 2, text: 'b' }],
]);

describe('copies', () => {
  it('get the outcomes of their originals, whatever the lanes, passes, errors and order of commits', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(planned, { minLength: 1, maxLength: 30 }),
        fc.array(fc.tuple(fc.nat(29), planned), { maxLength: 6 }),
        fc.record({ size: fc.integer({ min: 1, max: 5 }), shift: fc.nat() }),
        async (items, again, { size, shift }) => {
          const run = await newRun({ formats: ['jsonl'] });
          const first = shardsOf([...items.entries()], { size, pass: 1, first: 0 });
          const order = first.map((_, index) => (index * 7 + shift) % first.length);
          const isPermutation = new Set(order).size === first.length;
          const log = await claim(run);
          await work(
            run.dir,
            log,
            first,
            isPermutation ? order.slice(1) : order.map((_, index) => index).slice(1),
          );
          const plans = new Map(items.map((it, seq) => [seq, planOf(seq, it)]));

          const left = isPermutation ? order[0]! : 0;
          const known = new Map(plans);
          for (const { seq } of first[left]!.shard.items) known.delete(seq);
          const endings = [...known.keys()].map((seq) => endingOf(seq, known, false));
          const errors = endings.filter((ending) => ending !== null && ending.error !== null).length;
          const verdicts = endings.filter((ending) => ending?.error === null).length;
          expect(await finishRun(log, signal)).toMatchObject({ status: 'incomplete', verdicts, errors });

          await log.commit(first[left]!);
          const copies = items.filter((it) => it.plan.kind === 'copy').length;
          expect(log.counts(1)).toMatchObject({ items: items.length, copies });
          const summary = await finishRun(log, signal);
          await log.close();
          expect(summary).toMatchObject({ status: 'finished', items: items.length, copies });
          for (const line of await outcomes(run.dir)) check(line, plans);
          expect(await verifyRun(run.dir)).toMatchObject({ ok: true, items: items.length });

          // A pass judges only items again that have no verdict.
          const isRetried = (seq: number): boolean => endingOf(seq, plans, true)?.error != null;
          const retried = new Map(again.filter(([seq]) => seq < items.length && isRetried(seq)));
          if (retried.size === 0) return;
          const next = await claim(run);
          const sorted = [...retried].sort(([a], [b]) => a - b);
          await work(run.dir, next, shardsOf(sorted, { size, pass: 2, first: first.length }));
          for (const [seq, it] of sorted) plans.set(seq, planOf(seq, it));
          expect(await finishRun(next, signal)).toMatchObject({ status: 'finished', pass: 2 });
          await next.close();
          const lines = await outcomes(run.dir);
          for (const line of lines) check(line, plans);
          expect(await jsonLines(join(run.dir, 'errors.jsonl'))).toEqual(
            lines.filter(({ status }) => status === 'error'),
          );
          expect(await verifyRun(run.dir)).toMatchObject({ ok: true, items: items.length });
        },
      ),
      { seed: SEED, numRuns: 10 },
    );
  });

  it('have all of the original outcome, and what is their own', async () => {
    const { dir, summary } = await finishedRun([
      resultOf(ITEMS_AND_COPIES, { shard: 0, pass: 1, lane: 'text' }),
    ]);
    const [original, copy, , ofKnown] = await outcomes(dir);
    const { seq, id, source } = copy!;
    expect([seq, id, source.row]).toEqual([1, 'corpus.csv#2', 2]);
    const own = { seq, id, source, same_as: 0, attempts: 0, cache_usage: null };
    expect(copy).toEqual({ ...original, ...own });
    expect(Object.keys(copy!)).toEqual(Object.keys(original!));
    expect(ofKnown).toMatchObject({ score: 0.25, reused_from: 'an-earlier-run' });
    expect(summary).toMatchObject({ items: 4, verdicts: 4, reused: 1, copies: 2 });
    expect(summaryLines(summary)).toContainEqual(
      expect.stringMatching(
        /^1 verdict reused: 1 from an-earlier-run \(sha256:[0-9a-f]{16}…\); 2 copies of other items$/,
      ),
    );
  });

  it('of items without an outcome of their content say so, and can be retried', async () => {
    const plans = new Map<number, Plan>([
      [0, { kind: 'error', code: 'SOURCE_CHANGED', text: 'a' }],
      [1, { kind: 'copy', sameAs: 0, text: 'a' }],
      [2, { kind: 'copy', sameAs: 1, text: 'a' }],
      [3, { kind: 'copy', sameAs: 3, text: 'a' }],
    ]);
    const { dir, summary } = await finishedRun([resultOf(plans, { shard: 0, pass: 1, lane: 'text' })]);
    expect(summary).toMatchObject({ errors: 4, by_error_code: { SOURCE_CHANGED: 1, INTERNAL: 3 } });
    const lines = await outcomes(dir);
    expect(lines.slice(1).map(({ error }) => error)).toEqual(
      [0, 1, 3].map((seq) => ({
        code: 'INTERNAL',
        message: `not judged as a copy of item ${seq}, which has no outcome of this content`,
        retryable: true,
      })),
    );
    expect((await retryableItems(dir, signal)).within(0, 4)).toEqual([1, 2, 3]);
    expect(await verifyRun(dir)).toMatchObject({ ok: true, errors: 4 });
  });

  it('get the new outcome of an original whose old one was damaged and judged again', async () => {
    const plans = [...ITEMS_AND_COPIES];
    const of = { pass: 1, lane: 'text' } as const;
    const second = resultOf(new Map(plans.slice(1)), { ...of, shard: 1 });
    const first = (score: number): ShardResult =>
      resultOf(new Map([[0, { kind: 'judged', score, text: 'a' }]]), { ...of, shard: 0 });
    const run = await newRun();
    const log = await claim(run);
    await work(run.dir, log, [first(0.93), second]);
    await log.close();
    const segment = join(run.dir, 'log', '0001-000001.jsonl');
    await writeFile(segment, (await readFile(segment, 'utf8')).replace('0.93', '0.94'));

    const next = await claim(run);
    expect([next.isCommitted(0), next.isCommitted(1)]).toEqual([false, true]);
    expect(await finishRun(next, signal)).toMatchObject({ status: 'incomplete', verdicts: 2, copies: 1 });
    await next.commit(first(0.07));
    expect(await finishRun(next, signal)).toMatchObject({
      status: 'finished',
      verdicts: 4,
      lost_to_damage: 1,
    });
    await next.close();
    expect((await outcomes(run.dir)).map(({ score }) => score)).toEqual([0.07, 0.07, 0.25, 0.25]);
    expect(await verifyRun(run.dir)).toMatchObject({ ok: true });
  });

  it('are not what somebody writes into the final files, even if every hash fits', async () => {
    const { dir } = await finishedRun([resultOf(ITEMS_AND_COPIES, { shard: 0, pass: 1, lane: 'text' })]);
    const path = join(dir, 'verdicts.jsonl');
    const text = await readFile(path, 'utf8');
    for (const [from, to] of [
      ['"same_as":0', '"same_as":2'],
      ['"same_as":2', '"same_as":0'],
      ['"same_as":0', '"same_as":null'],
    ] as const) {
      await writeFile(path, text.replace(from, to));
      await reseal(dir);
      expect(await verifyRun(dir)).toMatchObject({
        ok: false,
        problem: expect.stringMatching(/^verdicts.jsonl line \d does not match the verdict log$/) as string,
      });
    }
    await writeFile(path, text);
    await reseal(dir);
    expect(await verifyRun(dir)).toMatchObject({ ok: true });
  });

  it('that their commit does not count do not verify', async () => {
    const run = await newRun();
    const log = await claim(run);
    await work(run.dir, log, [resultOf(ITEMS_AND_COPIES, { shard: 0, pass: 1, lane: 'text' })]);
    await log.close();
    const path = join(run.dir, 'log', '0001-commits.jsonl');
    const lines = (await readFile(path, 'utf8')).trimEnd().split('\n');
    const commit = withoutCheck(lines.pop()!)!.replace('"copies":2', '"copies":0');
    await writeFile(path, `${[...lines, withCheck(commit)].join('\n')}\n`);
    const next = await claim(run);
    await finishRun(next, signal);
    await next.close();
    expect(await verifyRun(run.dir)).toEqual({
      ok: false,
      problem: 'log/0001-000001.jsonl: the outcomes of shard 0 do not add up to the tally in their commit',
    });
  });

  it('do not verify with another outcome than that of their original', async () => {
    const { dir, record } = await finishedRun([
      resultOf(ITEMS_AND_COPIES, { shard: 0, pass: 1, lane: 'text' }),
    ]);
    const chain = await readChain(dir, { signal });
    const plan = await outlinePlan(join(dir, 'plan.jsonl'), chain.commits, { signal });
    const check = shardCheck({ record, chain, plan });
    const lines = await LineFiles.begin(async () => ({ write: async () => undefined }));
    const forged: typeof check = (shard, accounts) => {
      shard.lines((text) => {
        const line = JSON.parse(text) as OutcomeLine;
        return line.seq === 1 ? { ...line, latency_ms: 1 } : line;
      });
      check(shard, accounts);
    };
    await expect(
      runTotals({ runDir: dir, record, chain, plan, signal, check: forged }, lines),
    ).rejects.toThrow('the outcome of item 1 is not that of item 0');
  });
});
