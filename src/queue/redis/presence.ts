import { z } from 'zod';
import { endInTime } from './key-end.ts';
import type { RedisLink } from './link.ts';
import { patiently } from './patience.ts';

/** The kinds of processes that announce themselves. */
export type Role = 'worker' | 'sink';

export interface Present {
  readonly id: string;
  /** What the process says of itself. */
  readonly details: unknown;
}

/** Says in Redis, again and again, that a process lives; its silence tells the others that it does not. */
export class Presence {
  readonly id: string;
  readonly #link: RedisLink;
  readonly #role: Role;
  readonly #describe: () => object;
  readonly #forgottenAfterMs: number;
  #timer: NodeJS.Timeout | null = null;
  #endListening: () => void = () => {};

  /** `forgottenAfterMs`: after so long without a sign the process counts as dead. */
  constructor(
    link: RedisLink,
    role: Role,
    id: string,
    { describe, forgottenAfterMs }: { readonly describe: () => object; readonly forgottenAfterMs: number },
  ) {
    this.id = id;
    this.#link = link;
    this.#role = role;
    this.#describe = describe;
    this.#forgottenAfterMs = forgottenAfterMs;
  }

  async start(): Promise<void> {
    this.#timer = setInterval(() => void this.#beat(), this.#forgottenAfterMs / 5);
    this.#timer.unref();
    this.#endListening = this.#link.onBack(() => void this.#beat());
    await this.#beat();
  }

  /** Ends the beat and takes the process off the list. */
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
    // What waits for a Redis that is away would all be sent at once when it is back.
    if (this.#link.away || this.#timer === null) return;
    const { redis } = this.#link;
    const key = presenceKey(this.#link, this.#role, this.id);
    const lastsMs = Math.round(this.#forgottenAfterMs);
    const text = JSON.stringify({ ...this.#describe(), lastsMs });
    await redis.set(key, text, 'PX', lastsMs).catch(() => {});
    await redis.sadd(this.#link.key(`${this.#role}s`), this.id).catch(() => {});
  }
}

/** The processes of a role that live. */
export async function listPresent(link: RedisLink, role: Role, signal: AbortSignal): Promise<Present[]> {
  const set = link.key(`${role}s`);
  const ids = (await patiently(() => link.redis.smembers(set), signal)).sort();
  const present: Present[] = [];
  for (const id of ids) {
    const details = await saidBy(link, role, id, signal);
    if (details === null) await patiently(() => link.redis.srem(set, id), signal);
    else present.push({ id, details });
  }
  return present;
}

/** Whether a process lives. */
export async function isPresent(
  link: RedisLink,
  role: Role,
  id: string,
  signal: AbortSignal,
): Promise<boolean> {
  return (await saidBy(link, role, id, signal)) !== null;
}

/** For how long a process counts as alive after a sign of life, in milliseconds. */
const SIGN = z.looseObject({ lastsMs: z.number() });

/** What a process last said of itself; null when it is gone. */
async function saidBy(link: RedisLink, role: Role, id: string, signal: AbortSignal): Promise<unknown> {
  const key = presenceKey(link, role, id);
  const text = await patiently(() => link.redis.get(key), signal);
  if (text === null) return null;
  const details: unknown = JSON.parse(text);
  const sign = SIGN.safeParse(details);
  if (sign.success) await endInTime(link, key, sign.data.lastsMs, signal);
  return details;
}

function presenceKey(link: RedisLink, role: Role, id: string): string {
  return link.key('alive', role, id);
}
