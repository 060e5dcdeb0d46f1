import { status } from '@grpc/grpc-js';
import { expect, test } from 'vitest';
import { closeAfterEach, connect, guard, judge, prompts, verdict } from '../helpers/guards/guard-pool.ts';
import { random } from '../helpers/corpus.ts';
import { scoreOf } from '../helpers/guards/fake-contract.ts';
import { fingerprintIdOf, type Scripted } from '../helpers/guards/scripted-guard.ts';

closeAfterEach();

const UNKNOWN_MODEL: Scripted = { code: status.NOT_FOUND, details: 'Request for unknown model' };

const TROUBLES: readonly Scripted[] = [
  { code: status.UNAVAILABLE, details: 'Exceeds maximum queue size' },
  { code: status.UNAVAILABLE, details: 'Server not ready' },
  { code: status.UNAVAILABLE, details: 'Connection dropped' },
  { code: status.INTERNAL, details: 'Failed to process the request(s) for model' },
  { code: status.INTERNAL, details: 'Stub process is not healthy' },
  UNKNOWN_MODEL,
];

// Troubles of the guard that pass; what they must not do is end an item, mix up rows or blame the wrong model.
test.each([1, 2].map((n) => n * 7919))(
  'transient errors of two guards reach no item (seed %i)',
  async (seed) => {
    const next = random(seed);
    let swaps = 0;
    /** A guard that judges other items and does not know the model for a single one has rejected that item. */
    const passing = (trouble: Scripted, texts: readonly string[] = []): Scripted =>
      trouble === UNKNOWN_MODEL && texts.length < 2 ? undefined : trouble;
    const start = () =>
      guard({
        script: ({ inputs }) =>
          next() < 0.03 ? passing(TROUBLES[Math.floor(next() * TROUBLES.length)], inputs['TEXT']) : undefined,
        onVersion: () => (next() < 0.02 ? TROUBLES[Math.floor(next() * TROUBLES.length)] : undefined),
      });
    const guards = [await start(), await start()];
    const pool = await connect(guards);
    const requests = prompts(1000);
    const shards = Array.from({ length: 8 }, (_, shard) => requests.slice(shard * 125, (shard + 1) * 125));
    const outcomes = await Promise.all(
      shards.map(async (shard) => {
        const judged = await judge(pool, shard);
        if (next() < 0.2) guards[swaps % 2]!.deploy(`model-${++swaps}`, '1');
        return judged;
      }),
    );
    for (const [index, outcome] of outcomes.flat().entries()) {
      const { score, endpoint, fingerprint } = verdict(outcome);
      expect(score).toBe(scoreOf(`text ${index}`));
      const models = guards.find(({ address }) => address === endpoint)!.judged.get(`text ${index}`)!;
      const artifacts = models.map(fingerprintIdOf);
      expect(artifacts).toContain(fingerprint);
    }
  },
);
