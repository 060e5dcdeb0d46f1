import { Failure } from '../domain/failure.ts';
import { itemError } from '../domain/item-error.ts';
import { type Item } from '../domain/item.ts';
import { type Fingerprint } from '../domain/fingerprint.ts';
import { type Outcome } from '../domain/outcome.ts';
import { type Judging } from '../config/run-config.ts';
import { type Shard, type ShardResult } from '../domain/shard.ts';
import { GivenBack } from '../queue/given-back.ts';
import { type DeathNotes, type Deaths } from '../queue/redis/death-notes.ts';
import { Isolation } from './isolation.ts';
import { type Moderator } from './moderate-shard.ts';

/** From the delivery after so many deaths on, a shard is judged item by item. */
const DEATHS_OF_SHARD = 2;
/** An item that workers had in hand at so many deaths is not judged any more. */
const DEATHS_OF_ITEM = 2;
/** After a failure of ours a shard is left alone for so long, in milliseconds. */
const LEAVE_ALONE_MS = 1000;

/** A shard as it was delivered: with how its run wants it judged. */
export interface DeliveredShard extends Shard {
  readonly judging: Judging;
}

export interface ModeratorOptions {
  readonly moderator: Moderator;
  readonly notes: DeathNotes;
  /** Begins the names of cache sessions; no other process uses it. */
  readonly worker: string;
}

/** Judges shards of a fleet, and finds the item in them that kills whoever judges it. */
export class ShardModerator {
  readonly #options: ModeratorOptions;
  readonly #isolation = new Isolation();
  #deliveries = 0;

  constructor(options: ModeratorOptions) {
    this.#options = options;
  }

  /**
   * Takes a shard through the guards. `name` names it within the fleet, whoever feeds it. Rejects on abort and when
   * no guard can be had, and with `GivenBack` when judging failed by a fault of ours. `forget` is to be called when
   * the result was handed over.
   */
  async moderate(name: string, shard: DeliveredShard, signal: AbortSignal): Promise<ShardResult> {
    const { notes } = this.#options;
    const deaths = await notes.begin(name, signal);
    try {
      if (deaths.ofShard >= DEATHS_OF_SHARD) return await this.#oneByOne(name, shard, deaths, signal);
      return await this.#isolation.run('shared', signal, () => this.#judge(shard, signal));
    } catch (error) {
      if (signal.aborted || error instanceof Failure || error instanceof GivenBack) {
        await notes.release(name, AbortSignal.timeout(LEAVE_ALONE_MS)).catch(() => {});
        throw error;
      }
      await notes.blame(name, null, signal);
      throw new GivenBack(LEAVE_ALONE_MS);
    }
  }

  /** Forgets what was noted of a shard. */
  forget(name: string, signal: AbortSignal): Promise<void> {
    return this.#options.notes.forget(name, signal);
  }

  #judge(shard: DeliveredShard, signal: AbortSignal): Promise<ShardResult> {
    const session = `${this.#options.worker}-${this.#deliveries++}`;
    return this.#options.moderator.moderate(shard, { judging: shard.judging, session, signal });
  }

  /** The items that are suspected first, and quite alone. */
  async #oneByOne(
    name: string,
    shard: DeliveredShard,
    deaths: Deaths,
    signal: AbortSignal,
  ): Promise<ShardResult> {
    const outcomes = new Array<Outcome | null>(shard.items.length).fill(null);
    const fingerprints = new Map<string, Fingerprint>();
    const suspicion = (item: Item): number => deaths.ofItem.get(item.seq) ?? 0;
    const order = [...shard.items.keys()].sort(
      (a, b) => suspicion(shard.items[b]!) - suspicion(shard.items[a]!) || a - b,
    );
    for (const index of order) {
      const item = shard.items[index]!;
      if (item.error !== null) continue;
      if (suspicion(item) >= DEATHS_OF_ITEM) {
        outcomes[index] = deadly(suspicion(item));
        continue;
      }
      const result = await this.#judgeItem(name, { ...shard, items: [item] }, suspicion(item) > 0, signal);
      outcomes[index] = result.outcomes[0]!;
      for (const fingerprint of result.fingerprints) fingerprints.set(fingerprint.id, fingerprint);
    }
    return { shard, outcomes, fingerprints: [...fingerprints.values()] };
  }

  #judgeItem(
    name: string,
    single: DeliveredShard,
    alone: boolean,
    signal: AbortSignal,
  ): Promise<ShardResult> {
    const { notes } = this.#options;
    const { seq } = single.items[0]!;
    return this.#isolation.run(alone ? 'alone' : 'suspect', signal, async () => {
      await notes.beginItem(name, seq, signal);
      let result: ShardResult;
      try {
        result = await this.#judge(single, signal);
      } catch (error) {
        if (signal.aborted || error instanceof Failure) throw error;
        await notes.blame(name, seq, signal);
        throw new GivenBack(LEAVE_ALONE_MS);
      }
      await notes.endItem(name, signal);
      return result;
    });
  }
}

function deadly(deaths: number): Outcome {
  return {
    judgement: null,
    failure: {
      error: itemError('INTERNAL', `${deaths} workers died while they had this item in hand`),
      attempts: deaths,
      endpoint: null,
      moderatedAt: new Date().toISOString(),
    },
  };
}
