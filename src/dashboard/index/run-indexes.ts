import { mkdtempSync } from 'node:fs';
import { lstat, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import pLimit from 'p-limit';
import { Failure } from '../../domain/failure.ts';
import { RUN_FILES } from '../../files/run-files.ts';
import { abortable } from '../../flow/abortable.ts';
import { listEpochs } from '../../record/log/epochs.ts';
import { Reviews } from '../reviews/reviews.ts';
import { buildIndex, notFinished } from './build-index.ts';
import type { RunIndex } from './run-index.ts';

/** Maximum open indexes; the least recently used one is closed. */
const MAX_OPEN = 3;

interface Entry {
  /** `stateOf` the run when indexing began. */
  readonly state: string;
  readonly folder: string;
  readonly index: Promise<RunIndex>;
  uses: number;
  /** Whether to close it after its last use. */
  dropped: boolean;
}

/**
 * Indexes of finished runs. Each is opened for its first query, one at a time, with a temporary folder (0700) that is
 * removed when this process ends. A run that is judged again gets a new index when it has finished.
 */
export class RunIndexes {
  /** Entries by run directory, the least recently used first. */
  readonly #entries = new Map<string, Entry>();
  readonly #limit = pLimit(1);
  /** Reviews by folder of runs. */
  readonly #reviews = new Map<string, Reviews>();
  readonly #closing = new AbortController();
  /** Settles when dropped indexes are closed. */
  #closed: Promise<void> = Promise.resolve();

  /**
   * Runs a query on the index of a run. CONFLICT if the run is not finished; Failure('internal') if its record fails
   * verification.
   */
  async use<T>(runDir: string, signal: AbortSignal, query: (index: RunIndex) => Promise<T>): Promise<T> {
    const entry = await this.#find(runDir);
    entry.uses++;
    try {
      return await query(await abortable(entry.index, signal));
    } finally {
      entry.uses--;
      if (entry.dropped && entry.uses === 0) this.#close(entry);
    }
  }

  /** Aborts indexing, and closes and removes every index. Interrupts running queries. */
  async close(): Promise<void> {
    this.#closing.abort(new Failure('interrupted', 'the dashboard ends'));
    for (const entry of this.#entries.values()) this.#close(entry);
    await this.#closed;
  }

  async #find(runDir: string): Promise<Entry> {
    const state = await stateOf(runDir);
    this.#closing.signal.throwIfAborted();
    let entry = this.#entries.get(runDir);
    if (entry !== undefined && entry.state !== state) {
      this.#drop(runDir, entry);
      entry = undefined;
    }
    entry ??= this.#begin(runDir, state);
    this.#entries.delete(runDir);
    this.#entries.set(runDir, entry);
    const [oldest] = this.#entries;
    if (this.#entries.size > MAX_OPEN) this.#drop(...oldest!);
    return entry;
  }

  #begin(runDir: string, state: string): Entry {
    const folder = mkdtempSync(join(tmpdir(), 'guardsweep-index-'));
    const out = dirname(resolve(runDir));
    const reviews = this.#reviews.get(out) ?? Reviews.beside(runDir);
    this.#reviews.set(out, reviews);
    const { signal } = this.#closing;
    const index = this.#limit(() => buildIndex({ runDir, reviews, folder, signal }));
    const entry: Entry = { state, folder, index, uses: 0, dropped: false };
    // After a failure, the next query tries again.
    index.catch(() => this.#drop(runDir, entry));
    return entry;
  }

  #drop(runDir: string, entry: Entry): void {
    if (this.#entries.get(runDir) === entry) this.#entries.delete(runDir);
    entry.dropped = true;
    if (entry.uses === 0) this.#close(entry);
  }

  #close({ index, folder }: Entry): void {
    const closed = index.then(
      (built) => built.close(),
      () => undefined,
    );
    const removed = closed.then(() => rm(folder, { recursive: true, force: true }));
    this.#closed = Promise.all([this.#closed, removed]).then(() => undefined);
  }
}

/** A value that changes when a run is judged again and when it finishes. CONFLICT if it was never finished. */
async function stateOf(runDir: string): Promise<string> {
  const epoch = (await listEpochs(runDir)).at(-1) ?? 0;
  try {
    const { ino, size, mtimeNs } = await lstat(join(runDir, RUN_FILES.manifest), { bigint: true });
    return [epoch, ino, size, mtimeNs].join(' ');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw notFinished();
    throw error;
  }
}
