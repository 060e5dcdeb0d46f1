import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Outcome } from '../../../src/domain/outcome.ts';
import type { ItemRequest, Turn } from '../../../src/domain/request.ts';
import type { Moderator } from '../../../src/moderate/moderator.ts';
import { DEFAULT_JUDGING } from '../../helpers/judging.ts';
import { conversation, prompt, response } from '../../helpers/guards/guard-pool.ts';
import { judgedItem } from '../../helpers/items.ts';
import { textModerator } from '../../helpers/moderation.ts';
import { SmallGuard } from '../../helpers/guards/small-guard.ts';

const SEED = 20_261_121;

/** Words of several scripts, so that some texts have four bytes a token and some one. */
const text = fc
  .tuple(
    fc.constantFrom('plain words. ', '言葉と文。', 'mixed 語 words. ', 'x'),
    fc.integer({ min: 1, max: 400 }),
  )
  .map(([words, times]) => words.repeat(times) + 'end');

const turn: fc.Arbitrary<Turn> = fc.tuple(fc.constantFrom('system', 'user', 'assistant'), text);

const request: fc.Arbitrary<ItemRequest> = fc.oneof(
  text.map(prompt),
  fc.tuple(text, text).map(([asked, answered]) => response(asked, answered)),
  fc.array(turn, { minLength: 1, maxLength: 8 }).map((turns) => conversation([...turns, ['user', 'so?']])),
);

/** What has to be equal, whoever judged when. */
function substance({ judgement, failure }: Outcome): unknown {
  if (judgement === null) return failure.error;
  const { score, flagged, coverage } = judgement;
  return { score, flagged, coverage };
}

async function judgeOne(moderator: Moderator, item: ItemRequest): Promise<Outcome> {
  const shard = { shard: 0, pass: 1, lane: 'text', items: [judgedItem(0, item)] } as const;
  const { signal } = new AbortController();
  const { outcomes } = await moderator.moderate(shard, { judging: DEFAULT_JUDGING, session: 's', signal });
  return outcomes[0]!;
}

it('the windows of an item are the same whatever was judged before, in any order', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(request, fc.integer()), { minLength: 2, maxLength: 6 }),
      fc.integer({ min: 40, max: 700 }),
      async (cases, context) => {
        const alone = await Promise.all(
          cases.map(([item]) => judgeOne(textModerator(new SmallGuard(context)), item)),
        );
        // One process judges them in another order.
        const moderator = textModerator(new SmallGuard(context));
        const order = cases.map((_, index) => index).sort((a, b) => cases[a]![1] - cases[b]![1]);
        for (const index of order) {
          const judged = await judgeOne(moderator, cases[index]![0]);
          expect(substance(judged)).toEqual(substance(alone[index]!));
        }
      },
    ),
    { seed: SEED, numRuns: 50 },
  );
});
