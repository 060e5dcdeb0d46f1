import { setMaxListeners } from 'node:events';
import { expect, it } from 'vitest';
import type { GuardRequest } from '../../../src/domain/request.ts';
import type { ShardResult } from '../../../src/domain/shard.ts';
import { DEFAULT_JUDGING } from '../../helpers/judging.ts';
import type { Judge } from '../../../src/moderate/parts/judge-parts.ts';
import { ShardModerator, type DeliveredShard } from '../../../src/fleet/worker/shard-moderator.ts';
import { Requeue } from '../../../src/queue/work-queue.ts';
import { DeathNotes, notedShard } from '../../../src/fleet/redis/death-notes.ts';
import type { RedisLink } from '../../../src/queue/redis/link.ts';
import { sweepRun } from '../../../src/fleet/redis/sweep-run.ts';
import { promptItem } from '../../helpers/items.ts';
import { judgement, textModerator } from '../../helpers/moderation.ts';
import { linkForTest, redisForTest } from '../../helpers/redis/redis.ts';

const RUN = '20261121T020000Z-test-ab12';
const NAME = notedShard(RUN, { pass: 1, shard: 0 });
const ITEMS = 100;
const signal = new AbortController().signal;
setMaxListeners(0, signal);

const shard: DeliveredShard = {
  judging: DEFAULT_JUDGING,
  shard: 0,
  pass: 1,
  lane: 'text',
  items: Array.from({ length: ITEMS }, (_, seq) => promptItem(seq, String(seq))),
};

const harmless = judgement(0, { fingerprint: null });

function textOf(request: GuardRequest): string {
  return request.requestType === 'prompt' && request.modality === 'text' ? request.text : '';
}

/** What a worker has in hand, by seq, whenever it asks its guard. */
type Ask = (seqs: readonly number[], die: () => Promise<never>) => Promise<void>;

/**
 * Hands the shard to one worker after another, each of which leaves its notes behind when it dies, until one comes to
 * the end of it. Gives its result, and how many died.
 */
async function deliver(link: RedisLink, ask: Ask): Promise<{ result: ShardResult; deaths: number }> {
  for (let deaths = 0; ; deaths++) {
    let die = (): void => {};
    const died = new Promise<'died'>((resolve) => (die = () => resolve('died')));
    const judge: Judge = {
      judge: async (requests: readonly GuardRequest[]) => {
        const texts = requests.map(textOf);
        // What is no number is no item of the shard: it only shows that a guard can be had.
        const seqs = texts.map(Number).filter(Number.isInteger);
        await ask(seqs, () => (die(), new Promise<never>(() => {})));
        return requests.map(() => harmless);
      },
      fingerprints: new Map(),
    };
    const id = `worker-${deaths}`;
    const moderator = new ShardModerator({
      judge,
      moderator: textModerator(judge),
      notes: new DeathNotes(link, id),
      worker: id,
    });
    const result = await Promise.race([died, moderator.moderate(NAME, shard, signal)]);
    if (result !== 'died') return { result, deaths };
  }
}

const failed = ({ shard: { items }, outcomes }: ShardResult): (number | undefined)[] =>
  outcomes.flatMap((outcome, index) =>
    outcome?.failure?.error.code === 'INTERNAL' ? items[index]?.seq : [],
  );

it('finds the items that kill whoever asks for them, and gives all others their verdicts', async () => {
  const link = await linkForTest(await redisForTest());
  const { result, deaths } = await deliver(link, async (seqs, die) => {
    if (seqs.includes(3) || seqs.includes(70)) await die();
  });
  expect(failed(result)).toEqual([3, 70]);
  expect(result.outcomes.filter((outcome) => outcome?.judgement)).toHaveLength(ITEMS - 2);
  // Two of the whole shard, then four of each item.
  expect(deaths).toBeLessThanOrEqual(10);
  await sweepRun(link, RUN, signal);
  expect(await link.redis.keys('*:deaths:*')).toEqual([]);
});

it('holds nothing against an item that somebody judged and lived', async () => {
  const link = await linkForTest(await redisForTest());
  const notes = new DeathNotes(link, 'gone');
  for (let deaths = 0; deaths < 3; deaths++) await notes.blame(NAME, [5], signal);
  const { result } = await deliver(link, async () => {});
  expect(failed(result)).toEqual([]);
  expect((await notes.begin(NAME, signal)).ofItem).toEqual(new Map());
});

it('takes what is suspected with nothing else in the process', async () => {
  const link = await linkForTest(await redisForTest());
  const notes = new DeathNotes(link, 'gone');
  await notes.blame(NAME, [5, 6], signal);
  await notes.blame(NAME, [6], signal);
  const asked: (readonly number[])[] = [];
  await deliver(link, async (seqs) => {
    if (seqs.length > 0) asked.push(seqs);
  });
  expect(asked.slice(0, 2)).toEqual([[6], [5]]);
  expect(asked.slice(2).map((seqs) => seqs.length)).toEqual([64, 34]);
});

it('blames no item for workers that die while they wait for a guard', async () => {
  const link = await linkForTest(await redisForTest());
  let asked = 0;
  const { result, deaths } = await deliver(link, async (_seqs, die) => {
    if (++asked <= 8) await die();
  });
  expect(failed(result)).toEqual([]);
  expect(deaths).toBe(8);
});

it('counts a failure of its own like a death, and gives the shard back', async () => {
  const link = await linkForTest(await redisForTest());
  const judge: Judge = {
    judge: async ([request]) => {
      if (request !== undefined && textOf(request) === '7') throw new Error('broken');
      return [harmless];
    },
    fingerprints: new Map(),
  };
  const notes = new DeathNotes(link, 'worker');
  const moderator = new ShardModerator({ judge, moderator: textModerator(judge), notes, worker: 'worker' });
  const one = { ...shard, items: [promptItem(7, '7')] };
  for (let times = 0; times < 6; times++) {
    await expect(moderator.moderate(NAME, one, signal)).rejects.toBeInstanceOf(Requeue);
  }
  expect(failed(await moderator.moderate(NAME, one, signal))).toEqual([7]);
});
