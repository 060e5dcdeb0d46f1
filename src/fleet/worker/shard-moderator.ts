import type { Judging } from '../../config/run-config.ts';
import type { CanaryCheck } from '../../domain/canary/canary-check.ts';
import { Failure } from '../../domain/failure.ts';
import { itemError } from '../../domain/item-error.ts';
import type { JudgedItem } from '../../domain/item.ts';
import type { Outcome } from '../../domain/outcome.ts';
import type { GuardRequest } from '../../domain/request.ts';
import { collectReusedFingerprints, type Shard, type ShardResult } from '../../domain/shard.ts';
import { Requeue } from '../../queue/work-queue.ts';
import type { DeathNotes, Deaths } from '../redis/death-notes.ts';
import { Isolation } from './crash-isolation.ts';
import type { Judge } from '../../moderate/parts/judge-parts.ts';
import type { Moderator } from '../../moderate/moderator.ts';

/** After this number of deaths a shard is judged piece by piece. */
const DEATHS_OF_SHARD = 2;
/**
 * Items per piece, indexed by the number of consecutive workers that died while judging the items. From one death on, the
 * piece is judged with nothing else in the process. After as many deaths as this list is long, an item is not judged
 * again: the last two times it was judged alone, so it caused those deaths, and an unrelated cause would have had to hit
 * the same item four times in a row.
 */
const PIECE_ITEMS = [64, 8, 1, 1] as const;
/**
 * Judged before each piece. While no guard is ready, the worker waits in this request before it writes a note, so that
 * killing it during a long wait blames no item.
 */
const HARMLESS: GuardRequest = {
  requestType: 'prompt',
  modality: 'text',
  text: 'The train leaves at half past nine.',
};
/** Requeue delay after an internal failure, and timeout for releasing notes, in milliseconds. */
const REQUEUE_MS = 1000;

/** A shard as it was delivered, with its run's judging options. */
export interface DeliveredShard extends Shard {
  readonly judging: Judging;
}

interface ModeratorOptions {
  readonly judge: Judge;
  readonly moderator: Moderator;
  readonly notes: DeathNotes;
  /** Prefix of cache session names; unique to this process. */
  readonly worker: string;
}

/** Judges shards of a fleet and isolates items that crash workers. */
export class ShardModerator {
  readonly #options: ModeratorOptions;
  readonly #isolation = new Isolation();
  #sessions = 0;

  constructor(options: ModeratorOptions) {
    this.#options = options;
  }

  /**
   * Judges a shard. `name` identifies it within the fleet, across feeders. Rejects on abort, when no guard is ready for too
   * long, and with `Requeue` after an internal failure. Call `forget` when the result has been queued.
   */
  async moderate(name: string, shard: DeliveredShard, signal: AbortSignal): Promise<ShardResult> {
    const { notes } = this.#options;
    const deaths = await notes.begin(name, signal);
    try {
      if (deaths.ofShard >= DEATHS_OF_SHARD) return await this.#piecemeal(name, shard, deaths, signal);
      return await this.#isolation.run('shared', signal, () => this.#judge(shard, signal));
    } catch (error) {
      if (signal.aborted || error instanceof Failure || error instanceof Requeue) {
        await notes.release(name, AbortSignal.timeout(REQUEUE_MS)).catch(() => {});
        throw error;
      }
      await notes.blame(name, [], signal);
      throw new Requeue(REQUEUE_MS);
    }
  }

  /** Removes the notes of a shard. */
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

  /** Judges the items with the most deaths first. */
  async #piecemeal(
    name: string,
    shard: DeliveredShard,
    deaths: Deaths,
    signal: AbortSignal,
  ): Promise<ShardResult> {
    const outcomes = new Map<number, Outcome>();
    const fingerprints = collectReusedFingerprints(shard.items);
    const canaries = new Set<CanaryCheck>();
    const suspects = new Map<number, JudgedItem[]>();
    for (const item of shard.items) {
      if (item.settled !== null) continue;
      const suspicion = deaths.ofItem.get(item.seq) ?? 0;
      if (suspicion >= PIECE_ITEMS.length) outcomes.set(item.seq, crashedWorkers(suspicion));
      else suspects.set(suspicion, [...(suspects.get(suspicion) ?? []), item]);
    }
    for (const [suspicion, items] of [...suspects].sort(([a], [b]) => b - a)) {
      const size = PIECE_ITEMS[suspicion]!;
      for (let from = 0; from < items.length; from += size) {
        const piece = { ...shard, items: items.slice(from, from + size) };
        const result = await this.#judgePiece(name, piece, suspicion > 0, signal);
        for (const [index, { seq }] of piece.items.entries()) outcomes.set(seq, result.outcomes[index]!);
        for (const fingerprint of result.fingerprints) fingerprints.set(fingerprint.id, fingerprint);
        for (const check of result.canaries ?? []) canaries.add(check);
      }
    }
    return {
      shard,
      outcomes: shard.items.map(({ seq }) => outcomes.get(seq) ?? null),
      fingerprints: [...fingerprints.values()],
      canaries: [...canaries],
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
        throw new Requeue(REQUEUE_MS);
      }
      await notes.endItems(name, seqs, signal);
      return result;
    });
  }
}

function crashedWorkers(deaths: number): Outcome {
  return {
    judgement: null,
    failure: {
      error: itemError('INTERNAL', `${deaths} workers in a row died while judging this item`),
      attempts: deaths,
      endpoint: null,
      moderatedAt: new Date().toISOString(),
    },
  };
}
