import type { Judging } from '../../config/run-config.ts';
import { Failure } from '../../domain/failure.ts';
import { itemError } from '../../domain/item-error.ts';
import type { JudgedItem } from '../../domain/item.ts';
import type { Outcome } from '../../domain/outcome.ts';
import type { GuardRequest } from '../../domain/request.ts';
import { settledFingerprints, type Shard, type ShardResult } from '../../domain/shard.ts';
import { Requeue } from '../../queue/requeue.ts';
import type { DeathNotes, Deaths } from '../redis/death-notes.ts';
import { Isolation } from './crash-isolation.ts';
import type { Judge } from '../../moderate/judge.ts';
import type { Moderator } from '../../moderate/moderator.ts';

/** From the delivery after so many deaths on, a shard is judged piece by piece. */
const DEATHS_OF_SHARD = 2;
/**
 * Items of a piece, by how many workers in a row died while they had its items noted. At least one such death, and
 * the piece is judged with nothing else in the process. After as many as are listed here an item is not judged any
 * more: two of them were then its own beyond doubt, while something else that kills workers, now here, now there,
 * would have had to strike the same item four times and never to miss.
 */
const PIECE_ITEMS = [64, 8, 1, 1] as const;
/**
 * Judged before each piece: while no guard can be had the worker waits over this, and whoever ends it then, for
 * hours if need be, leaves no note behind.
 */
const HARMLESS: GuardRequest = {
  requestType: 'prompt',
  modality: 'text',
  text: 'The train leaves at half past nine.',
};
/** After a failure of ours a shard is left alone for so long, in milliseconds. */
const LEAVE_ALONE_MS = 1000;

/** A shard as it was delivered: with how its run wants it judged. */
export interface DeliveredShard extends Shard {
  readonly judging: Judging;
}

export interface ModeratorOptions {
  readonly judge: Judge;
  readonly moderator: Moderator;
  readonly notes: DeathNotes;
  /** Begins the names of cache sessions; no other process uses it. */
  readonly worker: string;
}

/** Judges shards of a fleet, and finds the item in them that kills whoever judges it. */
export class ShardModerator {
  readonly #options: ModeratorOptions;
  readonly #isolation = new Isolation();
  #sessions = 0;

  constructor(options: ModeratorOptions) {
    this.#options = options;
  }

  /**
   * Takes a shard through the guards. `name` names it within the fleet, whoever feeds it. Rejects on abort and when
   * no guard can be had, and with `Requeue` when judging failed by a fault of ours. `forget` is to be called when
   * the result was handed over.
   */
  async moderate(name: string, shard: DeliveredShard, signal: AbortSignal): Promise<ShardResult> {
    const { notes } = this.#options;
    const deaths = await notes.begin(name, signal);
    try {
      if (deaths.ofShard >= DEATHS_OF_SHARD) return await this.#piecemeal(name, shard, deaths, signal);
      return await this.#isolation.run('shared', signal, () => this.#judge(shard, signal));
    } catch (error) {
      if (signal.aborted || error instanceof Failure || error instanceof Requeue) {
        await notes.release(name, AbortSignal.timeout(LEAVE_ALONE_MS)).catch(() => {});
        throw error;
      }
      await notes.blame(name, [], signal);
      throw new Requeue(LEAVE_ALONE_MS);
    }
  }

  /** Forgets what was noted of a shard. */
  forget(name: string, signal: AbortSignal): Promise<void> {
    return this.#options.notes.forget(name, signal);
  }

  #judge(shard: DeliveredShard, signal: AbortSignal): Promise<ShardResult> {
    return this.#options.moderator.moderate(shard, {
      judging: shard.judging,
      session: this.#session(),
      signal,
    });
  }

  #session(): string {
    return `${this.#options.worker}-${this.#sessions++}`;
  }

  /** The items that are suspected most first. */
  async #piecemeal(
    name: string,
    shard: DeliveredShard,
    deaths: Deaths,
    signal: AbortSignal,
  ): Promise<ShardResult> {
    const outcomes = new Map<number, Outcome>();
    const fingerprints = settledFingerprints(shard.items);
    const suspects = new Map<number, JudgedItem[]>();
    for (const item of shard.items) {
      if (item.settled !== null) continue;
      const suspicion = deaths.ofItem.get(item.seq) ?? 0;
      if (suspicion >= PIECE_ITEMS.length) outcomes.set(item.seq, deadly(suspicion));
      else suspects.set(suspicion, [...(suspects.get(suspicion) ?? []), item]);
    }
    for (const [suspicion, items] of [...suspects].sort(([a], [b]) => b - a)) {
      const size = PIECE_ITEMS[suspicion]!;
      for (let from = 0; from < items.length; from += size) {
        const piece = { ...shard, items: items.slice(from, from + size) };
        const result = await this.#judgePiece(name, piece, suspicion > 0, signal);
        for (const [index, { seq }] of piece.items.entries()) outcomes.set(seq, result.outcomes[index]!);
        for (const fingerprint of result.fingerprints) fingerprints.set(fingerprint.id, fingerprint);
      }
    }
    return {
      shard,
      outcomes: shard.items.map(({ seq }) => outcomes.get(seq) ?? null),
      fingerprints: [...fingerprints.values()],
    };
  }

  #judgePiece(
    name: string,
    piece: DeliveredShard,
    alone: boolean,
    signal: AbortSignal,
  ): Promise<ShardResult> {
    const { notes } = this.#options;
    const seqs = piece.items.map(({ seq }) => seq);
    return this.#isolation.run(alone ? 'alone' : 'suspect', signal, async () => {
      await this.#options.judge.judge([HARMLESS], { session: this.#session(), signal });
      await notes.beginItems(name, seqs, signal);
      let result: ShardResult;
      try {
        result = await this.#judge(piece, signal);
      } catch (error) {
        if (signal.aborted || error instanceof Failure) throw error;
        await notes.blame(name, seqs, signal);
        throw new Requeue(LEAVE_ALONE_MS);
      }
      await notes.endItems(name, seqs, signal);
      return result;
    });
  }
}

function deadly(deaths: number): Outcome {
  return {
    judgement: null,
    failure: {
      error: itemError('INTERNAL', `${deaths} workers in a row died while they had this item in hand`),
      attempts: deaths,
      endpoint: null,
      moderatedAt: new Date().toISOString(),
    },
  };
}
