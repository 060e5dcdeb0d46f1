import type { Judging } from '../../config/run-config.ts';
import type { CanaryCheck } from '../../domain/canary/canary-check.ts';
import { Failure } from '../../domain/failure.ts';
import { itemError } from '../../domain/item-error.ts';
import type { JudgedItem } from '../../domain/item.ts';
import type { Outcome } from '../../domain/outcome.ts';
import type { GuardRequest } from '../../domain/request.ts';
import { collectReusedFingerprints, type Shard, type ShardResult } from '../../domain/shard.ts';
import { WaitList, type TurnTaken } from '../../flow/wait-list.ts';
import type { Judge } from '../../moderate/parts/judge-parts.ts';
import type { Moderator } from '../../moderate/moderator.ts';
import type { Delivery } from '../../queue/redis/redis-queue.ts';
import { parseNote, type ShardNote } from './shard-note.ts';

/** After this many deaths of workers, a shard is judged item by item. */
const DEATHS_OF_SHARD = 2;
/** An item at which this many workers died in a row, with nothing else in the process, is not judged again. */
const DEATHS_OF_ITEM = 2;
/**
 * Judged before each suspect. While no guard is ready, the worker waits in this request before it notes the item, so that
 * killing it during a long wait blames no item.
 */
const HARMLESS: GuardRequest = {
  requestType: 'prompt',
  modality: 'text',
  text: 'The train leaves at half past nine.',
};
/** Timeout for clearing a note when a worker must end, in milliseconds. */
const CLEAR_MS = 1000;

/** A shard as it was delivered, with its run's judging options. */
export interface DeliveredShard extends Shard {
  readonly judging: Judging;
}

interface ModeratorOptions {
  readonly judge: Judge;
  readonly moderator: Moderator;
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
   * Judges a shard; item by item if workers died with it, or if judging it as a whole fails for a reason of our own. Rejects
   * on abort, and when no guard is ready for too long.
   */
  async moderate(shard: DeliveredShard, delivery: Delivery, signal: AbortSignal): Promise<ShardResult> {
    if (delivery.deaths < DEATHS_OF_SHARD) {
      try {
        return await this.#isolation.run('shared', signal, () => this.#judge(shard, signal));
      } catch (error) {
        if (signal.aborted || error instanceof Failure) throw error;
      }
    }
    return this.#isolation.run('alone', signal, () => this.#judgeItemByItem(shard, delivery, signal));
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

  /** Begins with the item at which a worker died, because a note holds one item. */
  async #judgeItemByItem(
    shard: DeliveredShard,
    delivery: Delivery,
    signal: AbortSignal,
  ): Promise<ShardResult> {
    const noted = afterDeath(parseNote(delivery.note));
    const { current: suspect, deaths, fatal } = noted;
    const outcomes = new Map<number, Outcome>();
    const fingerprints = collectReusedFingerprints(shard.items);
    const canaries = new Set<CanaryCheck>();
    const open = shard.items.filter((item): item is JudgedItem => item.settled === null);
    const note = (current: number | null, until: AbortSignal): Promise<void> =>
      delivery.setNote(
        JSON.stringify({ ...noted, current, deaths: current === suspect ? deaths : 0 }),
        until,
      );
    try {
      for (const item of open.sort((a, b) => Number(b.seq === suspect) - Number(a.seq === suspect))) {
        if (fatal.includes(item.seq)) {
          outcomes.set(item.seq, failed(`${DEATHS_OF_ITEM} workers in a row died while judging this item`));
          continue;
        }
        await this.#options.judge.judge([HARMLESS], { session: this.#session(), signal });
        await note(item.seq, signal);
        const result = await this.#judgeItem({ ...shard, items: [item] }, signal);
        outcomes.set(item.seq, result?.outcomes[0] ?? failed('the worker failed while judging this item'));
        for (const fingerprint of result?.fingerprints ?? []) fingerprints.set(fingerprint.id, fingerprint);
        for (const check of result?.canaries ?? []) canaries.add(check);
      }
    } finally {
      await note(null, AbortSignal.timeout(CLEAR_MS)).catch(() => {});
    }
    return {
      shard,
      outcomes: shard.items.map(({ seq }) => outcomes.get(seq) ?? null),
      fingerprints: [...fingerprints.values()],
      canaries: [...canaries],
    };
  }

  /** Null when it failed for a reason of our own. */
  async #judgeItem(shard: DeliveredShard, signal: AbortSignal): Promise<ShardResult | null> {
    try {
      return await this.#judge(shard, signal);
    } catch (error) {
      if (signal.aborted || error instanceof Failure) throw error;
      return null;
    }
  }
}

/** The note with the death of the worker that left it counted. */
function afterDeath(note: ShardNote): ShardNote {
  const { current, fatal } = note;
  if (current === null) return note;
  const deaths = note.deaths + 1;
  if (deaths < DEATHS_OF_ITEM) return { ...note, deaths };
  return { ...note, current: null, deaths: 0, fatal: [...fatal, current] };
}

function failed(message: string): Outcome {
  return {
    judgement: null,
    failure: {
      error: itemError('INTERNAL', message),
      attempts: DEATHS_OF_ITEM,
      endpoint: null,
      moderatedAt: new Date().toISOString(),
    },
  };
}

/**
 * Runs work together with other work of its kind, or alone in this process: when the process dies then, that work is the
 * cause. Work that waits to run alone blocks later arrivals, so it is not starved.
 */
class Isolation {
  readonly #waiting = new WaitList();
  #shared = 0;
  #alone = false;

  /** Rejects with the signal's reason when aborted first. */
  async run<T>(mode: 'shared' | 'alone', signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#waiting.wait(() => this.#take(mode), signal);
    try {
      return await work();
    } finally {
      if (mode === 'alone') this.#alone = false;
      else this.#shared--;
      this.#waiting.offerTurns();
    }
  }

  #take(mode: 'shared' | 'alone'): TurnTaken {
    if (this.#alone || (mode === 'alone' && this.#shared > 0)) return 'blocked';
    if (mode === 'alone') this.#alone = true;
    else this.#shared++;
    return 'taken';
  }
}
