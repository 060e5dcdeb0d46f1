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

/** After this many workers died, a shard is judged in pieces. */
const DEATHS_OF_SHARD = 2;
/** Items per piece. After a death, the items of the piece are judged one by one. */
const PIECE_ITEMS = 64;
/** An item is not judged again after this many workers in a row died while they judged nothing else. */
const DEATHS_OF_ITEM = 2;
/**
 * Judged before each piece. While no guard is ready, the worker waits in this request, before it notes the items, so
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
   * Judges a shard, in pieces if workers died with it, or if judging it as a whole fails because of our own code.
   * Rejects on abort, and if no guard is ready for too long.
   */
  async moderate(shard: DeliveredShard, delivery: Delivery, signal: AbortSignal): Promise<ShardResult> {
    if (delivery.deaths < DEATHS_OF_SHARD) {
      try {
        return await this.#isolation.run('shared', signal, () => this.#judge(shard, signal));
      } catch (error) {
        if (signal.aborted || error instanceof Failure) throw error;
      }
    }
    return this.#isolation.run('alone', signal, () => this.#judgeByPieces(shard, delivery, signal));
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

  /** Begins with the piece at which a worker died, item by item, because a note covers one piece. */
  async #judgeByPieces(shard: DeliveredShard, delivery: Delivery, signal: AbortSignal): Promise<ShardResult> {
    const noted = afterDeath(parseNote(delivery.note));
    const { current: suspects, deaths, fatal } = noted;
    const outcomes = new Map<number, Outcome>();
    const fingerprints = collectReusedFingerprints(shard.items);
    const canaries = new Set<CanaryCheck>();
    const open = shard.items.filter((item): item is JudgedItem => item.settled === null);
    for (const { seq } of open.filter((item) => fatal.includes(item.seq))) {
      outcomes.set(seq, failed(`${DEATHS_OF_ITEM} workers in a row died while judging this item`));
    }
    const rest = open.filter(({ seq }) => !fatal.includes(seq));
    const note = (current: readonly number[], until: AbortSignal): Promise<void> => {
      const isSuspect = suspects.length === 1 && current.length === 1 && current[0] === suspects[0];
      return delivery.setNote(JSON.stringify({ ...noted, current, deaths: isSuspect ? deaths : 0 }), until);
    };
    /** Returns whether the piece was judged; if not, our own code failed. */
    const judge = async (items: readonly JudgedItem[]): Promise<boolean> => {
      await this.#options.judge.judge([HARMLESS], { session: this.#session(), signal });
      await note(
        items.map(({ seq }) => seq),
        signal,
      );
      const result = await this.#judgePiece({ ...shard, items }, signal);
      if (result === null) return false;
      items.forEach(({ seq }, at) => outcomes.set(seq, result.outcomes[at]!));
      for (const fingerprint of result.fingerprints) fingerprints.set(fingerprint.id, fingerprint);
      for (const check of result.canaries ?? []) canaries.add(check);
      return true;
    };
    const one = async (item: JudgedItem): Promise<void> => {
      if (await judge([item])) return;
      outcomes.set(item.seq, failed('the worker failed while judging this item'));
    };
    try {
      for (const item of rest.filter(({ seq }) => suspects.includes(seq))) await one(item);
      const others = rest.filter(({ seq }) => !suspects.includes(seq));
      for (let from = 0; from < others.length; from += PIECE_ITEMS) {
        const piece = others.slice(from, from + PIECE_ITEMS);
        if (!(await judge(piece))) for (const item of piece) await one(item);
      }
    } finally {
      await note([], AbortSignal.timeout(CLEAR_MS)).catch(() => {});
    }
    return {
      shard,
      outcomes: shard.items.map(({ seq }) => outcomes.get(seq) ?? null),
      fingerprints: [...fingerprints.values()],
      canaries: [...canaries],
    };
  }

  /** Null if our own code failed. */
  async #judgePiece(shard: DeliveredShard, signal: AbortSignal): Promise<ShardResult | null> {
    try {
      return await this.#judge(shard, signal);
    } catch (error) {
      if (signal.aborted || error instanceof Failure) throw error;
      return null;
    }
  }
}

/** Counts the death of the worker that left the note. */
function afterDeath(note: ShardNote): ShardNote {
  const { current, fatal } = note;
  if (current.length !== 1) return note;
  const deaths = note.deaths + 1;
  if (deaths < DEATHS_OF_ITEM) return { ...note, deaths };
  return { ...note, current: [], deaths: 0, fatal: [...fatal, ...current] };
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
 * Runs work together with other shared work, or alone in this process. If the process dies while work runs alone, that
 * work is the cause. Work that waits to run alone blocks later arrivals, so it is not starved.
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
