import { z } from 'zod';
import type { RedisLink } from '../../queue/redis/link.ts';
import { readNames, readValue } from '../../queue/redis/values.ts';
import { retryWhileTransient } from '../../queue/redis/retry-while-transient.ts';

/** The kinds of processes that announce themselves. */
type Role = 'worker' | 'sink';

interface Present {
  readonly id: string;
  /** Details that the process announces about itself. */
  readonly details: unknown;
}

/** Announces in Redis, at intervals, that a process is alive. Without the announcement it counts as dead. */
export class Presence {
  readonly id: string;
  readonly #link: RedisLink;
  readonly #role: Role;
  readonly #describe: () => object;
  readonly #expiryMs: number;
  #timer: NodeJS.Timeout | null = null;
  #endListening: () => void = () => {};

  /** Time without an announcement after which the process counts as dead (`expiryMs`). */
  constructor(
    link: RedisLink,
    role: Role,
    id: string,
    { describe, expiryMs }: { readonly describe: () => object; readonly expiryMs: number },
  ) {
    this.id = id;
    this.#link = link;
    this.#role = role;
    this.#describe = describe;
    this.#expiryMs = expiryMs;
  }

  async start(): Promise<void> {
    this.#timer = setInterval(() => void this.#beat(), this.#expiryMs / 5);
    this.#timer.unref();
    this.#endListening = this.#link.onBack(() => void this.#beat());
    await this.#beat();
  }

  /** Announces now, in addition to the intervals. */
  announce(): Promise<void> {
    return this.#beat();
  }

  /** Stops announcing, and removes the process from the list. */
  async stop(): Promise<void> {
    if (this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
    this.#endListening();
    if (this.#link.away) return;
    await this.#link.redis.del(presenceKey(this.#link, this.#role, this.id)).catch(() => {});
    await this.#link.redis.srem(this.#link.key(`${this.#role}s`), this.id).catch(() => {});
  }

  async #beat(): Promise<void> {
    // Commands for an unreachable Redis would queue up and all be sent after the reconnect.
    if (this.#link.away || this.#timer === null) return;
    const { redis } = this.#link;
    const key = presenceKey(this.#link, this.#role, this.id);
    const text = JSON.stringify(this.#describe());
    await redis.set(key, text, 'PX', Math.round(this.#expiryMs)).catch(() => {});
    await redis.sadd(this.#link.key(`${this.#role}s`), this.id).catch(() => {});
  }
}

/** The live processes of a role. */
export async function listPresent(link: RedisLink, role: Role, signal: AbortSignal): Promise<Present[]> {
  const set = link.key(`${role}s`);
  const present: Present[] = [];
  for (const id of await readNames(link, set, isProcessId, signal)) {
    const announced = await announcedBy(link, role, id, signal);
    if (announced === null) await retryWhileTransient(() => link.redis.srem(set, id), signal);
    else present.push({ id, details: announced.details });
  }
  return present;
}

function isProcessId(text: string): boolean {
  return /^[\w-]{1,64}$/.test(text);
}

/**
 * The last announcement of a process; null if it is gone. A process whose announcement cannot be read is alive and may
 * have another version, so its details are null.
 */
async function announcedBy(
  link: RedisLink,
  role: Role,
  id: string,
  signal: AbortSignal,
): Promise<{ readonly details: unknown } | null> {
  const key = presenceKey(link, role, id);
  const read = await readValue(link, key, z.looseObject({}), signal);
  if (read === 'absent') return null;
  return { details: read === 'unreadable' ? null : read.value };
}

function presenceKey(link: RedisLink, role: Role, id: string): string {
  return link.key('alive', role, id);
}
