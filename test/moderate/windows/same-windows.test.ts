import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Outcome } from '../../../src/domain/outcome.ts';
import type { ItemRequest, Turn } from '../../../src/domain/request.ts';
import type { Judge } from '../../../src/moderate/parts/judge-parts.ts';
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

async function judgeOne(
  moderator: Moderator,
  item: ItemRequest,
  signal = new AbortController().signal,
): Promise<Outcome> {
  const shard = { shard: 0, pass: 1, lane: 'text', items: [judgedItem(0, item)] } as const;
  const { outcomes } = await moderator.moderate(shard, { judging: DEFAULT_JUDGING, session: 's', signal });
  return outcomes[0]!;
}

it('the windows of an item are the same whatever was judged before, in any order, and after any interruption', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(request, fc.integer(), fc.option(fc.integer({ min: 1, max: 12 }))), {
        minLength: 2,
        maxLength: 6,
      }),
      fc.integer({ min: 40, max: 700 }),
      async (cases, context) => {
        const alone = await Promise.all(
          cases.map(([item]) => judgeOne(textModerator(new SmallGuard(context)), item)),
        );
        // One process judges them in another order; an interruption is another process.
        let moderator = textModerator(new SmallGuard(context));
        const order = cases.map((_, index) => index).sort((a, b) => cases[a]![1] - cases[b]![1]);
        for (const index of order) {
          const [item, , interruptedAt] = cases[index]!;
          if (interruptedAt !== null) {
            await interrupted(context, item, interruptedAt);
            if (interruptedAt % 2 === 0) moderator = textModerator(new SmallGuard(context));
          }
          expect(substance(await judgeOne(moderator, item))).toEqual(substance(alone[index]!));
        }
      },
    ),
    { seed: SEED, numRuns: 50 },
  );
});

/** Judges until a number of calls were made, and is then aborted. */
async function interrupted(context: number, item: ItemRequest, afterCalls: number): Promise<void> {
  const guards = new SmallGuard(context);
  const controller = new AbortController();
  const judge: Judge = {
    fingerprints: guards.fingerprints,
    judge: (requests, options) => {
      if (guards.calls === afterCalls) controller.abort();
      return guards.judge(requests, options);
    },
  };
  await judgeOne(textModerator(judge), item, controller.signal).catch(() => {});
}
