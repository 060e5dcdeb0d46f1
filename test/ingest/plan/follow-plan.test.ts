import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEFAULT_LIMITS } from '../../../src/config/run-config.ts';
import type { Item } from '../../../src/domain/item.ts';
import type { Shard } from '../../../src/domain/shard.ts';
import { ShardCutter } from '../../../src/ingest/plan/cut-shards.ts';
import { PlanFollower } from '../../../src/ingest/plan/plan-follower.ts';
import type { PlanLine, PlannedShard } from '../../../src/ingest/plan/plan-line.ts';
import { surveyPlan } from '../../../src/ingest/plan/survey-plan.ts';
import { judgedItem, promptItem, settledItem } from '../../helpers/items.ts';

const LIMITS = { ...DEFAULT_LIMITS, shardItems: 5, shardBytes: 200 };

interface Corpus {
  readonly items: readonly Item[];
  /** Source index of each item. */
  readonly sources: readonly number[];
}

/** Sources that are tables of mixed rows, or whole files of one item. */
const corpus: fc.Arbitrary<Corpus> = fc
  .array(
    fc.oneof(
      fc.array(fc.constantFrom('text', 'chat', 'bad'), { maxLength: 30 }),
      fc.constant('file' as const),
    ),
    { minLength: 1, maxLength: 8 },
  )
  .map((sources) => {
    const items: Item[] = [];
    const of: number[] = [];
    sources.forEach((source, index) => {
      for (const kind of source === 'file' ? ['file'] : source) {
        items.push(make(items.length, kind));
        of.push(index);
      }
    });
    return { items, sources: of };
  });

function make(seq: number, kind: string): Item {
  if (kind === 'bad') return settledItem(seq, 'MALFORMED_ROW');
  if (kind === 'text') return promptItem(seq, `text of item ${seq}`);
  if (kind === 'file') {
    const item = promptItem(seq, `file ${seq}`);
    return { ...item, source: { ...item.source, row: null, line: null } };
  }
  const messages = [['user', `message ${seq}`]] as const;
  return judgedItem(seq, {
    requestType: 'multiturn',
    modality: 'text',
    messages,
    turns: 1,
    conversation: null,
  });
}

function cutAll({ items, sources }: Corpus): { shards: Shard[]; lines: PlannedShard[] } {
  const cutter = new ShardCutter(LIMITS, { firstShard: 0, pass: 1, planned: new Map() });
  const cut = items.flatMap((item, index) => cutter.add(item, sources[index]!));
  cut.push(...cutter.end());
  return { shards: cut.map(({ shard }) => shard), lines: cut.map(({ line }) => line) };
}

async function* batches(lines: readonly PlanLine[]): AsyncGenerator<readonly PlanLine[]> {
  for (let at = 0; at < lines.length; at += 3) yield lines.slice(at, at + 3);
}

describe('a plan that is followed', () => {
  it('gives back its uncommitted shards and names what is unplanned, wherever the feeder stopped', async () => {
    await fc.assert(
      fc.asyncProperty(corpus, fc.nat(), fc.nat(), async (source, cutAt, salt) => {
        const whole = cutAll(source);
        const lines = whole.lines.slice(0, cutAt % (whole.lines.length + 1));
        const isCommitted = (shard: number): boolean => (shard * 7 + salt) % 3 === 0;
        const follower = new PlanFollower(batches(lines), { pass: 1, isCommitted });
        const given: Shard[] = [];
        const unplanned: number[] = [];
        for (const item of source.items) {
          const placed = await follower.place(item);
          if (placed === 'unplanned') unplanned.push(item.seq);
          else if (placed !== null) given.push(placed.shard);
        }
        const planned = new Set(
          whole.shards.slice(0, lines.length).flatMap((shard) => shard.items.map(({ seq }) => seq)),
        );
        given.sort((a, b) => a.shard - b.shard);
        expect(given).toEqual(whole.shards.slice(0, lines.length).filter(({ shard }) => !isCommitted(shard)));
        expect(unplanned).toEqual(source.items.map(({ seq }) => seq).filter((seq) => !planned.has(seq)));
        expect(follower.unfilled).toBe(0);
      }),
    );
  });

  it('refuses to judge a shard that reads otherwise than it was planned', async () => {
    const { lines } = cutAll({ items: [promptItem(0, 'as it was')], sources: [0] });
    const follower = new PlanFollower(batches(lines), { pass: 1, isCommitted: () => false });
    const placed = await follower.place(promptItem(0, 'as it is'));
    expect((placed as { shard: Shard }).shard.items.map(({ settled }) => settled?.error?.code)).toEqual([
      'SOURCE_CHANGED',
    ]);
  });
});

describe('surveyPlan', () => {
  it('tells of each source what is planned, whether that is all of it, and whether it is committed', async () => {
    await fc.assert(
      fc.asyncProperty(corpus, fc.nat(), fc.nat(), async (source, cutAt, salt) => {
        const whole = cutAll(source);
        const lines = whole.lines.slice(0, cutAt % (whole.lines.length + 1));
        const isCommitted = (shard: number): boolean => (shard * 7 + salt) % 3 === 0;
        const count = Math.max(...source.sources, 0) + 1;
        const survey = await surveyPlan(batches(lines), count, isCommitted);
        expect(survey.nextShard).toBe(lines.length);
        const planned = whole.shards.slice(0, lines.length);
        for (let index = 0; index < count; index++) {
          const all = source.items.filter((_, at) => source.sources[at] === index).map(({ seq }) => seq);
          const mine = planned.filter((shard) => shard.items.some(({ seq }) => all.includes(seq)));
          const seqs = mine
            .flatMap((shard) => shard.items.map(({ seq }) => seq))
            .filter((seq) => all.includes(seq));
          const extent = survey.extent(index);
          expect(extent.lastSeq).toBe(Math.max(-1, ...seqs));
          expect(extent.open).toBe(mine.some(({ shard }) => !isCommitted(shard)));
          // Never said of a source that is not planned to its end; being unsure only costs reading it again.
          if (extent.complete) expect(seqs.length).toBe(all.length);
        }
      }),
    );
  });
});
