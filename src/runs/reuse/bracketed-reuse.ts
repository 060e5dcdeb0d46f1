import { hasReusedVerdict } from '../../domain/item.ts';
import type { Shard } from '../../domain/shard.ts';
import type { RunReuse } from './run-reuse.ts';

/**
 * Reads the ids of the models that judge now, from version readings that begin after the call. Rejects with the
 * signal's reason when aborted.
 */
export type ReadModels = (signal: AbortSignal) => Promise<readonly string[]>;

/** How long a reading is used to look up verdicts, in milliseconds. Each verdict is confirmed by a later reading. */
const READING_LASTS_MS = 1000;

/**
 * Reuses only verdicts of models that judge now: between two readings that name the model, one begun after the run and
 * one after the verdict was looked up. Many shards may be resolved and confirmed at a time.
 */
export class BracketedReuse {
  readonly #reuse: RunReuse;
  readonly #readModels: ReadModels;
  /** Models of the completed reading that began last; null before the first. */
  #models: readonly string[] | null = null;
  #begun = 0;
  #latest = 0;
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(reuse: RunReuse, readModels: ReadModels) {
    this.#reuse = reuse;
    this.#readModels = readModels;
  }

  /** Resolves items that need no judging, as currently known. The result counts only once it is confirmed. */
  async settle(planned: Shard, signal: AbortSignal): Promise<Shard> {
    if (!this.#reuse.isOn) return planned;
    if (this.#models === null) await this.#read(signal);
    // For a guard that joined after the last reading: nothing else would request a new one while nothing is reused.
    else if (performance.now() - this.#readAt > READING_LASTS_MS) this.#read(signal).catch(() => undefined);
    return this.#reuse.settle(planned, this.#models ?? []);
  }

  /** Returns the shard to judge: resolved again if a model whose verdicts it has was replaced in the meantime. */
  async confirm(planned: Shard, settled: Shard, signal: AbortSignal): Promise<Shard> {
    for (let shard = settled; ;) {
      const used = modelsOf(shard);
      if (used.size === 0) return shard;
      const models = await this.#read(signal);
      if ([...used].every((model) => models.includes(model))) return shard;
      shard = this.#reuse.settle(planned, models);
    }
  }

  async #read(signal: AbortSignal): Promise<readonly string[]> {
    const reading = ++this.#begun;
    this.#readAt = performance.now();
    const models = await this.#readModels(signal);
    if (reading > this.#latest) {
      this.#latest = reading;
      this.#models = models;
    }
    return models;
  }
}

/** Ids of the models whose verdicts a shard reuses. */
function modelsOf({ items }: Shard): ReadonlySet<string> {
  return new Set(items.filter(hasReusedVerdict).map(({ settled }) => settled.fingerprint.id));
}
