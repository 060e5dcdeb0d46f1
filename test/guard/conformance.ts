import { describe, expect, it } from 'vitest';
import { Failure } from '../../src/domain/failure.ts';
import type { ItemCode } from '../../src/domain/item-error.ts';
import type { GuardRequest } from '../../src/domain/request.ts';
import type { GuardPool } from '../../src/guard/pool/pool.ts';
import { connected, judge, stateOf } from '../helpers/guards/guard-pool.ts';
import { expectFirstTries, failure, verdict } from '../helpers/guards/outcomes.ts';
import { audio, image, prompt, prompts } from '../helpers/guards/requests.ts';
import { settled } from '../helpers/settled.ts';

/** What goes wrong with requests whose text holds `containing`, or with any. */
export type Trouble =
  | { readonly kind: 'refuse'; readonly containing: string; readonly code: 'SEQUENCE_OVERFLOW' }
  /** The guard fails on it. */
  | { readonly kind: 'crash'; readonly containing: string }
  /** The reply is no verdict. */
  | { readonly kind: 'malformed'; readonly containing: string }
  /** The guard has too much to do, so many times. */
  | { readonly kind: 'overload'; readonly times: number };

/** A guard that a test can get into trouble. */
export interface TroubledGuard {
  readonly address: string;
  setTroubles(troubles: readonly Trouble[]): void;
  /** Takes requests and does not answer them, until `resume`. */
  pause(): void;
  resume(): void;
  /** Drops every connection and stops listening, until `listenAgain` takes the same port. */
  stopListening(): void;
  listenAgain(): Promise<void>;
}

/**
 * What every kind of guard client must do. `start` starts a guard that ends with the test. `hears`: whether the guard judges
 * sound, or transcripts only.
 */
export function guardConformance(kind: string, start: () => Promise<TroubledGuard>, hears = true): void {
  describe(`a guard over ${kind}`, () => {
    const said = async (pool: GuardPool, requests: readonly GuardRequest[]) =>
      (await judge(pool, requests)).map((outcome) => {
        const { score, flagged, subcategoryScores, subcategoryFlags, attempts } = verdict(outcome);
        return { score, flagged, subcategoryScores, subcategoryFlags, attempts };
      });

    it('gives each request its own verdict, the one it gets alone', async () => {
      const { pool } = await connected(start);
      const media = [image('i'), image('j', 'caption'), ...(hears ? [audio(WAV)] : []), audio(WAV, 'said')];
      const requests = [...prompts(150), ...media];
      const together = await said(pool, requests);
      const alone = [];
      for (const request of requests.toReversed()) alone.unshift(...(await said(pool, [request])));
      expect(together).toEqual(alone);
      expect(new Set(together.map(({ score }) => score)).size).toBeGreaterThan(140);
      expect(pool.status()).toMatchObject([{ state: { name: 'ready' }, inFlight: 0, queued: 0 }]);
    });

    const bad: [trouble: Trouble, code: ItemCode, attempts: number][] = [
      [{ kind: 'refuse', containing: 'text 17!', code: 'SEQUENCE_OVERFLOW' }, 'SEQUENCE_OVERFLOW', 1],
      [{ kind: 'malformed', containing: 'text 17!' }, 'INVALID_REPLY', 1],
      [{ kind: 'crash', containing: 'text 17!' }, 'GUARD_INTERNAL', 5],
    ];
    it.each(bad)('costs one item only: $kind (C-419)', async (trouble, code, attempts) => {
      const { server, pool } = await connected(start);
      const requests = prompts(64).map(({ text }) => prompt(`${text}!`));
      const clean = await said(pool, requests);
      server.setTroubles([trouble]);
      const outcomes = await judge(pool, requests);
      outcomes.forEach((outcome, index) => {
        if (index === 17) expect(failure(outcome)).toMatchObject({ error: { code }, attempts });
        else expect(verdict(outcome)).toMatchObject(clean[index]!);
      });
    });

    it('that is overloaded is given less, at no cost to the items', async () => {
      const { server, pool } = await connected(start);
      server.setTroubles([{ kind: 'overload', times: 3 }]);
      expectFirstTries(await judge(pool, prompts(40)));
    });

    it('goes down and comes back: the work waits and finishes at the first attempt', async () => {
      const { server, pool } = await connected(start);
      server.pause();
      const judged = judge(pool, prompts(100));
      await settled(() => pool.status()[0]!.inFlight > 0);
      const out = stateOf(pool, 'out');
      server.stopListening();
      await out;
      server.resume();
      const back = stateOf(pool, 'ready');
      await server.listenAgain();
      await back;
      expectFirstTries(await judged);
    });

    it('stays away: the work waits no longer than maxWaitMs', async () => {
      const { server, pool } = await connected(start, {}, { maxWaitMs: 300 });
      server.stopListening();
      const error = await judge(pool, prompts(3)).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(Failure);
      expect(error).toMatchObject({ kind: 'service' });
      expect((error as Failure).message).toContain(server.address);
    });

    it('loses what was aborted, and judges the rest', async () => {
      const { server, pool } = await connected(start);
      server.pause();
      const controller = new AbortController();
      const aborted = pool.judge([prompt('a')], { session: 's', signal: controller.signal });
      await settled(() => pool.status()[0]!.inFlight > 0);
      const reason = new Error('enough');
      controller.abort(reason);
      await expect(aborted).rejects.toBe(reason);
      server.resume();
      (await judge(pool, prompts(2))).map(verdict);
      expect(pool.status()).toMatchObject([{ inFlight: 0, queued: 0 }]);
    });
  });
}

/** The beginning of a WAV file, by which guards know one. */
const WAV = Buffer.from('RIFF\x24\0\0\0WAVEfmt \x10\0\0\0', 'latin1');
