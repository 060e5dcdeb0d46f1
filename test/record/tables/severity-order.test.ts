import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { OutcomeLine } from '../../../src/domain/outcome.ts';
import { SeverityOrder } from '../../../src/record/tables/severity-order.ts';
import { outcomeLine } from '../outcome-line.ts';

const SIGNAL = new AbortController().signal;

const bytesOf = (line: OutcomeLine): Buffer => Buffer.from(`${JSON.stringify(line)}\n`);

async function sorted(lines: readonly OutcomeLine[], heldBytes?: number): Promise<OutcomeLine[]> {
  const order = new SeverityOrder(heldBytes);
  try {
    for (const line of lines) await order.add(line, bytesOf(line));
    expect(order.count).toBe(lines.length);
    const found: OutcomeLine[] = [];
    for await (const batch of order.lines(SIGNAL)) found.push(...batch);
    return found;
  } finally {
    await order.close();
  }
}

it('has block before review, then the highest score, then the lowest seq', async () => {
  const given = [
    ['review', 0.99],
    ['block', 0.4],
    ['block', 0.9],
    ['review', 0.2],
    ['block', 0.4],
  ] as const;
  const lines = given.map(([decision, score], seq) => outcomeLine({ seq, decision, score }));
  expect((await sorted(lines)).map(({ seq }) => seq)).toEqual([2, 1, 4, 0, 3]);
});

it('is the same in memory and through any number of temporary runs', { timeout: 30_000 }, async () => {
  const line = fc.record({
    decision: fc.constantFrom('review', 'block'),
    score: fc.constantFrom(0, 0.25, 0.5, 1),
    id: fc.oneof(fc.string({ unit: 'binary' }), fc.constant('x'.repeat(70_000))),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(line, { maxLength: 60 }),
      fc.constantFrom(1, 2000, 100_000),
      async (parts, held) => {
        const lines = parts.map((part, seq) => outcomeLine({ ...part, seq }));
        const expected = [...lines].sort(
          (a, b) => a.decision!.localeCompare(b.decision!) || b.score! - a.score! || a.seq - b.seq,
        );
        expect(await sorted(lines, held)).toEqual(
          expected.map((each) => JSON.parse(JSON.stringify(each)) as object),
        );
      },
    ),
    { numRuns: 60 },
  );
});

it('merges more runs than are merged at a time', async () => {
  const lines = Array.from({ length: 2500 }, (_, seq) =>
    outcomeLine({ seq, decision: seq % 3 === 0 ? 'block' : 'review', score: ((seq * 7919) % 1000) / 1000 }),
  );
  const found = await sorted(lines, 600);
  expect(found).toHaveLength(2500);
  for (const [at, line] of found.entries()) {
    const before = found[at - 1];
    if (before === undefined || before.decision !== line.decision) continue;
    expect(before.score! > line.score! || (before.score === line.score && before.seq < line.seq)).toBe(true);
  }
  expect(found.findIndex(({ decision }) => decision === 'review')).toBe(834);
});

it('stops when it is aborted', async () => {
  const order = new SeverityOrder();
  for (let seq = 0; seq < 1000; seq++) {
    const line = outcomeLine({ seq, decision: 'block' });
    await order.add(line, bytesOf(line));
  }
  const aborted = AbortSignal.abort(new Error('enough'));
  await expect(order.lines(aborted).next()).rejects.toThrow('enough');
  await order.close();
});
