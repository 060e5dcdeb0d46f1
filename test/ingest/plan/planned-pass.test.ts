import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEFAULT_LIMITS } from '../../../src/config/run-config.ts';
import type { Item } from '../../../src/domain/item.ts';
import type { Shard } from '../../../src/domain/shard.ts';
import { ShardCutter } from '../../../src/ingest/plan/cut-shards.ts';
import { PlannedPass } from '../../../src/ingest/plan/planned-pass.ts';
import type { PlannedShard } from '../../../src/ingest/plan/plan-line.ts';
import { seed } from '../../helpers/corpus.ts';
import { judgedItem, promptItem, settledItem } from '../../helpers/items.ts';

const SEED = seed();

const LIMITS = { ...DEFAULT_LIMITS, shardItems: 5, shardBytes: 200 };

interface Corpus {
  readonly items: readonly Item[];
  /** Source index of each item. */
  readonly sources: readonly number[];
}

/** Sources that are tables of mixed rows, or whole files of one item. */
const corpus: fc.Arbitrary<Corpus> = fc
  .array(
    fc.oneof(fc.array(fc.constantFrom('text', 'chat', 'bad'), { maxLength: 30 }), fc.constant(['file'])),
    { minLength: 1, maxLength: 8 },
  )
  .map((sources) => ({
    items: sources.flat().map((kind, seq) => make(seq, kind)),
    sources: sources.flatMap((kinds, index) => kinds.map(() => index)),
  }));

function make(seq: number, kind: string): Item {
  if (kind === 'bad') return settledItem(seq, 'MALFORMED_ROW');
  if (kind === 'text') return promptItem(seq, `text of item ${seq}`);
  if (kind === 'file') {
    const item = promptItem(seq, `file ${seq}`);
    return { ...item, source: { ...item.source, row: null, line: null } };
  }
  const messages = [['user', `message ${seq}`]] as const;
  const chat = { requestType: 'multiturn', modality: 'text', turns: 1, conversation: null } as const;
  return judgedItem(seq, { ...chat, messages });
}

function cutAll({ items, sources }: Corpus): { shards: Shard[]; lines: PlannedShard[] } {
  const cutter = new ShardCutter(LIMITS, { firstShard: 0, pass: 1, planned: new Map() });
  const cut = items.flatMap((item, index) => cutter.add(item, sources[index]!));
  cut.push(...cutter.end());
  return { shards: cut.map(({ shard }) => shard), lines: cut.map(({ line }) => line) };
}

/** A pass of which these lines are in the plan. */
function planned(lines: readonly PlannedShard[], sources: number, isCommitted: (shard: number) => boolean) {
  async function* batches(): AsyncGenerator<readonly PlannedShard[]> {
    for (let at = 0; at < lines.length; at += 3) yield lines.slice(at, at + 3);
  }
  return PlannedPass.read(batches(), { pass: 1, sources, isCommitted });
}

describe('a pass that is continued', () => {
  it('gives back its uncommitted shards and knows what is planned, wherever the feeder stopped', async () => {
    await fc.assert(
      fc.asyncProperty(corpus, fc.nat(), fc.nat(), async (source, cutAt, salt) => {
        const whole = cutAll(source);
        const lines = whole.lines.slice(0, cutAt % (whole.lines.length + 1));
        const isCommitted = (shard: number): boolean => (shard * 7 + salt) % 3 === 0;
        const count = Math.max(...source.sources, 0) + 1;
        const pass = await planned(lines, count, isCommitted);
        expect(pass.nextShard).toBe(lines.length);
        const before = whole.shards.slice(0, lines.length);
        const plannedSeqs = new Set(before.flatMap((shard) => shard.items.map(({ seq }) => seq)));

        let first = 0;
        for (let index = 0; index < count; index++) {
          const all = source.items.filter((_, at) => source.sources[at] === index).map(({ seq }) => seq);
          const known = pass.ofSource(index, first);
          const isPlanned = all.filter((seq) => plannedSeqs.has(seq));
          const mine = before.filter((shard) => shard.items.some(({ seq }) => all.includes(seq)));
          if (isPlanned.length > 0) {
            expect(known?.next).toBe(Math.max(...isPlanned) + 1);
            expect(known?.committed).toBe(mine.every(({ shard }) => isCommitted(shard)));
            // Never claimed for a source that is not planned to its end. To be unsure only costs reading it again.
            if (known?.complete === true) expect(isPlanned).toEqual(all);
          } else if (known !== null) {
            expect(known.next).toBe(first + all.length);
          }
          first += all.length;
        }

        const given: Shard[] = [];
        const unplanned: number[] = [];
        for (const item of source.items) {
          const placed = pass.place(item);
          if (placed === 'unplanned') unplanned.push(item.seq);
          else if (placed !== null) given.push(placed.shard);
        }
        given.sort((a, b) => a.shard - b.shard);
        expect(given).toEqual(before.filter(({ shard }) => !isCommitted(shard)));
        expect(unplanned).toEqual(source.items.map(({ seq }) => seq).filter((seq) => !plannedSeqs.has(seq)));
        expect(pass.unfilled).toBe(0);
      }),
      { seed: SEED },
    );
  });

  it('does not judge a shard whose items differ from those planned', async () => {
    const { lines } = cutAll({ items: [promptItem(0, 'as it was')], sources: [0] });
    const pass = await planned(lines, 1, () => false);
    const placed = pass.place(promptItem(0, 'as it is'));
    const codes = (placed as { shard: Shard }).shard.items.map(({ settled }) => settled?.error?.code);
    expect(codes).toEqual(['SOURCE_CHANGED']);
  });
});
