import { hash } from 'node:crypto';
import type { Environment, Table } from './environment.ts';

/** Where a verdict comes from. */
export interface Origin {
  /** Name of the run. */
  readonly run: string;
  /** The guard's endpoint, as configured. */
  readonly endpoint: string;
}

export const ORIGIN_BYTES = 8;

/** Origins kept in memory: a corpus that grows is judged by many runs. */
const MAX_CACHED = 4096;

/**
 * The origins that verdicts have in common. Each is stored once under a mark, the first bytes of its SHA-256. So it is
 * its own check, and processes need not agree on numbers.
 */
export class Origins {
  readonly #environment: Environment;
  readonly #table: Table;
  readonly #cache = new Map<string, Origin>();

  constructor(environment: Environment) {
    this.#environment = environment;
    this.#table = environment.table('origins');
  }

  /** Stores an origin as a part of the write that is being filled; returns its mark. */
  put({ run, endpoint }: Origin): Buffer {
    const text = JSON.stringify([run, endpoint]);
    const mark = markOf(text);
    this.#environment.put(this.#table, mark, Buffer.from(text));
    return mark;
  }

  /** The origin with this mark, a part of a value that was read; null when it is missing or damaged. */
  get(mark: Buffer): Origin | null {
    const key = mark.toString('latin1');
    const cached = this.#cache.get(key);
    if (cached !== undefined) return cached;
    // Reading overwrites the value that was read before.
    const own = Buffer.from(mark);
    const text = this.#environment.get(this.#table, own)?.toString() ?? null;
    if (text === null || !markOf(text).equals(own)) return null;
    const [run, endpoint] = JSON.parse(text) as [string, string];
    const origin = { run, endpoint };
    if (this.#cache.size >= MAX_CACHED) this.#cache.clear();
    this.#cache.set(key, origin);
    return origin;
  }
}

function markOf(text: string): Buffer {
  return hash('sha256', text, 'buffer').subarray(0, ORIGIN_BYTES);
}
