import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Failure } from '../../domain/failure.ts';
import { abortable } from '../../flow/abortable.ts';
import { WaitList } from '../../flow/wait-list.ts';
import { buildIndex } from './build-index.ts';
import { recordState } from './record-state.ts';
import type { RunIndex } from './run-index.ts';

interface RunIndexesOptions {
  /** Indexes that stay open; the least recently used are closed. Default: 3. */
  readonly maxOpen?: number;
  /** How long a request waits for an index before it is told how far that is, in milliseconds. Default: 500. */
  readonly patienceMs?: number;
  /** After how long without a request a build is given up, in milliseconds. Default: 30,000. */
  readonly abandonedMs?: number;
  /** How long at least between two builds of the index of a run that goes on, in milliseconds. Default: 15,000. */
  readonly refreshMs?: number;
  /** The same as a multiple of the time that the last build took. Default: 10. */
  readonly refreshFactor?: number;
}

/** An index in use: it is not closed before it is released. */
export interface IndexLease {
  readonly index: RunIndex;
  /** Whether the run has gone on since it was built. */
  readonly stale: boolean;
  /** Idempotent. */
  readonly release: () => void;
}

/** A record that is read may be finished, or continued, at that time. */
const MAX_ATTEMPTS = 3;

interface Built extends Readonly<Awaited<ReturnType<typeof buildIndex>>> {
  readonly folder: string;
  /** `recordState` before it was built. */
  readonly state: string;
  /** When it may be built again, if the run goes on. */
  refreshAtMs: number;
  uses: number;
  /** No longer in the list: closed with its last use. */
  dropped: boolean;
}

interface Build {
  readonly done: Promise<Built>;
  readonly abort: AbortController;
  share: number;
  /** Requests that wait for it. */
  waiting: number;
  /** Gives it up, once nobody waits. */
  abandoned: NodeJS.Timeout | null;
  /** A failed one stays in the list until a request was told why. */
  state: 'building' | 'done' | 'failed';
}

interface OpenBuilt {
  readonly built: Built;
  readonly stale: boolean;
}

/**
 * The indexes of runs, built when first asked for, shared by all who ask, and closed when others are used more. They are in
 * a temporary folder (0700) and end with this process. One is built at a time.
 *
 *   none ─ asked ─► building ─► open ─ the run went on ─► open, and building another
 *     ▲                │          │
 *     └─ failed, or ───┘          ├─ the record of a finished run changed ─► none
 *        nobody waits             └─ least recently used ──────────────────► none
 */
export class RunIndexes {
  readonly #options: Required<RunIndexesOptions>;
  /** By run directory; the least recently used first. */
  readonly #open = new Map<string, Built>();
  readonly #builds = new Map<string, Build>();
  readonly #turns = new WaitList();
  readonly #closing = new AbortController();
  /** What runs on after its request. */
  readonly #tasks = new Set<Promise<unknown>>();
  #isBuilding = false;

  constructor(options: RunIndexesOptions = {}) {
    this.#options = {
      ...{ maxOpen: 3, patienceMs: 500, abandonedMs: 30_000, refreshMs: 15_000, refreshFactor: 10 },
      ...options,
    };
  }

  /**
   * The index of a run, for as long as the lease is held, or how far it is, 0 … 1. Rejects with a Failure when the record
   * fails verification.
   */
  async lease(runDir: string, signal: AbortSignal): Promise<IndexLease | { readonly indexing: number }> {
    this.#closing.signal.throwIfAborted();
    const found = await this.#find(runDir, signal);
    if ('indexing' in found) return found;
    const { built, stale } = found;
    built.uses++;
    let held = true;
    const release = (): void => {
      if (!held) return;
      held = false;
      built.uses--;
      if (built.dropped && built.uses === 0) this.#run(close(built));
    };
    return { index: built.index, stale, release };
  }

  /** The same, but waits for as long as it takes. */
  async patientLease(runDir: string, signal: AbortSignal): Promise<IndexLease> {
    for (;;) {
      const lease = await this.lease(runDir, signal);
      if ('index' in lease) return lease;
    }
  }

  /** Gives up what is being built, and closes and removes every index. Queries that run are interrupted. */
  async close(): Promise<void> {
    this.#closing.abort(new Failure('interrupted', 'the dashboard ends'));
    const builds = [...this.#builds.values()];
    for (const { abandoned } of builds) clearTimeout(abandoned ?? undefined);
    await Promise.allSettled(builds.map(({ done }) => done));
    for (const runDir of [...this.#open.keys()]) this.#drop(runDir, true);
    while (this.#tasks.size > 0) await Promise.allSettled(this.#tasks);
  }

  async #find(runDir: string, signal: AbortSignal): Promise<OpenBuilt | { indexing: number }> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const open = this.#current(runDir, await recordState(runDir));
      if (open !== null) return open;
      const build = this.#builds.get(runDir) ?? this.#begin(runDir);
      if (!(await this.#wait(runDir, build, signal))) return { indexing: build.share };
    }
    throw new Failure('service', 'the record of the run changed while it was being read: try again');
  }

  /** The open index of a run, if it is of use. */
  #current(runDir: string, state: string): OpenBuilt | null {
    const built = this.#open.get(runDir);
    if (built === undefined) return null;
    // The last is the most recently used.
    this.#open.delete(runDir);
    this.#open.set(runDir, built);
    if (built.state === state) return { built, stale: false };
    if (built.finished) {
      // What it would show may no longer be the record.
      this.#drop(runDir, false);
      return null;
    }
    const now = Date.now();
    if (now >= built.refreshAtMs) {
      built.refreshAtMs = now + this.#options.refreshMs;
      if (this.#builds.get(runDir)?.state !== 'building') this.#begin(runDir);
    }
    return { built, stale: true };
  }

  /** Whether the build has ended; false when it takes longer than a request waits. Rejects when it has failed. */
  async #wait(runDir: string, build: Build, signal: AbortSignal): Promise<boolean> {
    build.waiting++;
    clearTimeout(build.abandoned ?? undefined);
    const patience = new AbortController();
    const late = delay(this.#options.patienceMs, null, { signal: patience.signal }).catch(() => null);
    try {
      return (await abortable(Promise.race([build.done, late]), signal)) !== null;
    } finally {
      patience.abort();
      build.waiting--;
      // Its failure is told once; the next request tries again.
      if (build.state === 'failed') this.#forget(runDir, build);
      else if (build.state === 'building' && build.waiting === 0) this.#abandonLater(runDir, build);
    }
  }

  #abandonLater(runDir: string, build: Build): void {
    const giveUp = (): void => {
      this.#forget(runDir, build);
      build.abort.abort(new Failure('interrupted', 'nobody waits for the index'));
    };
    build.abandoned = setTimeout(giveUp, this.#options.abandonedMs);
    build.abandoned.unref();
  }

  #forget(runDir: string, build: Build): void {
    clearTimeout(build.abandoned ?? undefined);
    if (this.#builds.get(runDir) === build) this.#builds.delete(runDir);
  }

  #begin(runDir: string): Build {
    const abort = new AbortController();
    const signal = AbortSignal.any([abort.signal, this.#closing.signal]);
    const build: Build = {
      done: this.#built(runDir, signal, (share) => (build.share = share)),
      ...{ abort, share: 0, waiting: 0, abandoned: null, state: 'building' },
    };
    this.#builds.set(runDir, build);
    const ended = build.done.then(
      () => {
        build.state = 'done';
        this.#forget(runDir, build);
      },
      () => (build.state = 'failed'),
    );
    this.#run(ended);
    return build;
  }

  async #built(runDir: string, signal: AbortSignal, progress: (share: number) => void): Promise<Built> {
    await this.#turn(signal);
    const folder = await mkdtemp(join(tmpdir(), 'guardsweep-index-'));
    try {
      const state = await recordState(runDir);
      const begun = Date.now();
      const { index, finished } = await buildIndex({ runDir, folder, signal, progress });
      const now = Date.now();
      const { refreshMs, refreshFactor } = this.#options;
      const refreshAtMs = now + Math.max(refreshMs, refreshFactor * (now - begun));
      return this.#add(runDir, { index, finished, folder, state, refreshAtMs, uses: 0, dropped: false });
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      throw error;
    } finally {
      this.#isBuilding = false;
      this.#turns.offerTurns();
    }
  }

  #turn(signal: AbortSignal): Promise<void> {
    const take = (): 'taken' | 'blocked' => {
      if (this.#isBuilding) return 'blocked';
      this.#isBuilding = true;
      return 'taken';
    };
    return this.#turns.wait(take, signal);
  }

  #add(runDir: string, built: Built): Built {
    if (this.#open.has(runDir)) this.#drop(runDir, false);
    this.#open.set(runDir, built);
    for (const each of [...this.#open.keys()]) {
      if (this.#open.size <= this.#options.maxOpen) break;
      this.#drop(each, false);
    }
    return built;
  }

  #drop(runDir: string, now: boolean): void {
    const built = this.#open.get(runDir)!;
    this.#open.delete(runDir);
    built.dropped = true;
    if (now || built.uses === 0) this.#run(close(built));
  }

  #run(task: Promise<unknown>): void {
    const tracked = task.catch(() => undefined).finally(() => this.#tasks.delete(tracked));
    this.#tasks.add(tracked);
  }
}

async function close({ index, folder }: Built): Promise<void> {
  await index.close();
  await rm(folder, { recursive: true, force: true });
}
