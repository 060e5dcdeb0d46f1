import { setMaxListeners } from 'node:events';
import { expect, it } from 'vitest';
import type { GuardRequest } from '../../../src/domain/request.ts';
import type { ShardResult } from '../../../src/domain/shard.ts';
import { ShardModerator, type DeliveredShard } from '../../../src/fleet/worker/shard-moderator.ts';
import type { Judge } from '../../../src/moderate/parts/judge-parts.ts';
import { DEFAULT_JUDGING } from '../../helpers/run-config.ts';
import { promptItem } from '../../helpers/items.ts';
import { wordsOf } from '../../helpers/judged-run.ts';
import { judgement, textModerator } from '../../helpers/moderation.ts';

const ITEMS = 100;
const signal = new AbortController().signal;
setMaxListeners(0, signal);

const items = Array.from({ length: ITEMS }, (_, seq) => promptItem(seq, String(seq)));
const shard: DeliveredShard = { judging: DEFAULT_JUDGING, shard: 0, pass: 1, lane: 'text', items };

const harmless = judgement(0, { fingerprint: null });

/** What a worker asks its guard for, by seq. */
type Ask = (seqs: readonly number[], die: () => Promise<never>) => Promise<void>;

function moderatorOf(ask: Ask, die: () => void = () => {}): ShardModerator {
  const judge: Judge = {
    judge: async (requests: readonly GuardRequest[]) => {
      // What is not a number is not an item of the shard: it only shows that a guard is ready.
      const seqs = requests.map(wordsOf).map(Number).filter(Number.isInteger);
      await ask(seqs, () => (die(), new Promise<never>(() => {})));
      return requests.map(() => harmless);
    },
    fingerprints: new Map(),
  };
  return new ShardModerator({ judge, moderator: textModerator(judge), worker: 'worker' });
}

/** Delivers the shard to one worker after another until one finishes it. Returns its result, and how many died. */
async function deliver(ask: Ask): Promise<{ result: ShardResult; deaths: number }> {
  let note: string | null = null;
  for (let deaths = 0; ; deaths++) {
    let isDead = false;
    let die = (): void => {};
    const died = new Promise<'died'>((resolve) => (die = () => ((isDead = true), resolve('died'))));
    const setNote = async (text: string): Promise<void> => void (note = isDead ? note : text);
    const moderating = moderatorOf(ask, die).moderate(shard, { deaths, note, setNote }, signal);
    const result = await Promise.race([died, moderating]);
    if (result !== 'died') return { result, deaths };
  }
}

const failed = ({ shard: { items }, outcomes }: ShardResult): (number | undefined)[] =>
  outcomes.flatMap((outcome, index) =>
    outcome?.failure?.error.code === 'INTERNAL' ? items[index]?.seq : [],
  );

it('finds the items that kill workers, and gives all others their verdicts', async () => {
  const { result, deaths } = await deliver(async (seqs, die) => {
    if (seqs.includes(3) || seqs.includes(70)) await die();
  });
  expect(failed(result)).toEqual([3, 70]);
  expect(result.outcomes.filter((outcome) => outcome?.judgement)).toHaveLength(ITEMS - 2);
  // Two with the whole shard, then one at each piece and two at each item.
  expect(deaths).toBe(8);
});

it.each<[string, number, (seqs: readonly number[]) => boolean]>([
  ['that a later worker survived', 4, (seqs) => seqs.includes(5)],
  ['for workers that die while they wait for a guard', 8, () => true],
])('blames no item %s', async (_, lethal, isLethal) => {
  let times = 0;
  const { result, deaths } = await deliver(async (seqs, die) => {
    if (isLethal(seqs) && ++times <= lethal) await die();
  });
  expect([failed(result), deaths]).toEqual([[], lethal]);
});

it('judges item by item what fails for a reason of our own, and names the item', async () => {
  const { result, deaths } = await deliver(async (seqs) => {
    if (seqs.includes(7)) throw new Error('broken');
  });
  expect(failed(result)).toEqual([7]);
  expect(deaths).toBe(0);
});

it('judges suspects with nothing else in the process', async () => {
  let inHand = 0;
  const together: number[] = [];
  const moderator = moderatorOf(async (seqs) => {
    if (seqs.length === 0) return;
    together.push(++inHand);
    await new Promise((resolve) => setImmediate(resolve));
    inHand--;
  });
  const moderating = [0, 2, 0, 2].map((deaths) =>
    moderator.moderate(shard, { deaths, note: null, setNote: async () => {} }, signal),
  );
  await Promise.all(moderating);
  expect(together).toHaveLength(2 + 2 * 2);
  expect(Math.max(...together)).toBe(1);
});
