import { setTimeout as delay } from 'node:timers/promises';
import type { ScriptedFault } from '../../src/guard-server/synthetic/faults.ts';
import type { TestRedis } from '../helpers/redis/redis.ts';
import type { GuardProcess } from './guard-process.ts';
import type { Part } from './part.ts';
import type { RedisProxy } from './redis-proxy.ts';

export interface Targets {
  readonly parts: readonly Part[];
  readonly guards: readonly GuardProcess[];
  readonly redis: TestRedis;
  /** One before each worker. */
  readonly proxies: readonly RedisProxy[];
}

type Strike = () => Promise<boolean>;

const REST_MS = [600, 1400] as const;

/**
 * About every second one fault, chosen by a seeded generator. Faults that last go on beside the next ones.
 */
export class Storm {
  /** One line a fault, with the second of the storm. */
  readonly log: string[] = [];
  readonly #targets: Targets;
  readonly #next: () => number;
  readonly #lasting = new Set<Promise<void>>();
  #redisIsHit = false;

  constructor(targets: Targets, next: () => number) {
    this.#targets = targets;
    this.#next = next;
  }

  /** Rages for so long, or until aborted, and resolves when the last fault is over. */
  async rage(forMs: number, signal: AbortSignal): Promise<void> {
    const begunAt = performance.now();
    for (;;) {
      await delay(this.#between(...REST_MS), undefined, { signal }).catch(() => {});
      if (signal.aborted || performance.now() - begunAt > forMs) break;
      const [name, strike] = this.#choose();
      const struck = await strike();
      const second = ((performance.now() - begunAt) / 1000).toFixed(1);
      this.log.push(`${second} ${name}${struck ? '' : ' (missed)'}`);
    }
    await Promise.all(this.#lasting);
  }

  #choose(): readonly [string, Strike] {
    const { parts, proxies, guards } = this.#targets;
    const part = this.#pick(parts);
    const proxy = this.#pick(proxies);
    const guard = this.#pick(guards);
    const forMs = this.#between(500, 3000);
    const ofGuard = (name: string, faults: readonly ScriptedFault[]): readonly [string, Strike] => [
      `guard ${guards.indexOf(guard)} ${name}`,
      () => guard.setFaults(faults),
    ];
    const faults: readonly (readonly [weight: number, fault: readonly [string, Strike]])[] = [
      [8, [`kill ${part.name}`, async () => part.isUp && (part.kill(), true)]],
      [1, ['pause Redis', async () => this.#pauseRedis(this.#between(1000, 5000))]],
      [1, ['restart Redis with its data', async () => this.#restartRedis({ losesData: false })]],
      [1, ['restart Redis without its data', async () => this.#restartRedis({ losesData: true })]],
      [1, [`reset worker ${proxies.indexOf(proxy)}`, async () => (proxy.reset(), true)]],
      [1, [`silence worker ${proxies.indexOf(proxy)}`, async () => (proxy.silence(), true)]],
      [1, ofGuard('refuses', [{ kind: 'down', forMs }])],
      [1, ofGuard('goes away', [{ kind: 'down', how: 'closed', forMs }])],
      [1, ofGuard('is overloaded', [{ kind: 'overload', rate: 0.7, forMs }])],
      [1, ofGuard('is slow', [{ kind: 'slow', factor: 8, forMs }])],
      [0.5, ofGuard('raises', [{ kind: 'crash', times: 2, forMs }])],
      [2, ofGuard('swaps its version', [{ kind: 'swap-version' }])],
    ];
    let at = this.#next() * faults.reduce((sum, [weight]) => sum + weight, 0);
    return (faults.find(([weight]) => (at -= weight) < 0) ?? faults[0]!)[1];
  }

  #pauseRedis(forMs: number): boolean {
    const { redis } = this.#targets;
    return this.#hitRedis(async () => {
      process.kill(redis.pid, 'SIGSTOP');
      await delay(forMs);
      process.kill(redis.pid, 'SIGCONT');
    });
  }

  #restartRedis({ losesData }: { readonly losesData: boolean }): boolean {
    const { redis } = this.#targets;
    const awayMs = this.#between(100, 2000);
    return this.#hitRedis(async () => {
      await redis.kill();
      if (losesData) await redis.loseData();
      await delay(awayMs);
      await redis.boot();
    });
  }

  /** One thing at a time happens to Redis. */
  #hitRedis(hit: () => Promise<void>): boolean {
    if (this.#redisIsHit) return false;
    this.#redisIsHit = true;
    const lasting = hit().finally(() => {
      this.#redisIsHit = false;
      this.#lasting.delete(lasting);
    });
    this.#lasting.add(lasting);
    return true;
  }

  #pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.#next() * from.length)]!;
  }

  #between(least: number, most: number): number {
    return Math.round(least + this.#next() * (most - least));
  }
}
