import { isDeclared } from '../../domain/fingerprint.ts';
import type { RunRecord } from '../../config/run-config.ts';
import type { Item, JudgedItem, ReusedItem } from '../../domain/item.ts';
import type { Shard, ShardResult } from '../../domain/shard.ts';
import type { ReadOptions } from '../../ingest/items/read-source.ts';
import { allowedSnippet } from '../../record/outcomes/snippets.ts';
import type { VerdictStore } from '../../store/verdict-store.ts';
import type { JudgedBy, StoredVerdict, Verdict } from '../../store/verdicts.ts';
import { judgingText } from './recorded-verdicts.ts';

/**
 * Connects a run to the verdict store, for lookups and new verdicts. Without a store, everything is judged and nothing
 * is added.
 */
export class RunReuse {
  readonly #record: RunRecord;
  readonly #store: VerdictStore | null;
  readonly #judging: string;
  /** One object per fingerprint seen so far; the store looks up many contents with the same object. */
  readonly #judgedBy = new Map<string, JudgedBy>();

  /** `store` is opened and closed by the caller. */
  constructor(record: RunRecord, store: VerdictStore | null) {
    this.#record = record;
    this.#store = store;
    this.#judging = judgingText(record.config.judging);
  }

  /** Whether shards can be resolved: the run reuses verdicts and has a store. */
  get isOn(): boolean {
    return this.#store !== null && this.#record.config.reuse;
  }

  /** Media files that need not be reread if they have not changed; undefined to read all. */
  get readBefore(): ReadOptions['readBefore'] {
    return this.isOn ? this.#store?.files : undefined;
  }

  /**
   * Returns the shard with those items resolved whose content has a stored verdict of one of these models: the ids that
   * the guards last answered with. Hashes of payload and items do not change.
   */
  settle(shard: Shard, fingerprints: readonly string[]): Shard {
    const store = this.#store;
    if (store === null || !this.isOn) return shard;
    const by = this.#usable(fingerprints);
    const items = shard.items.map((item) => {
      if (!isReusable(item)) return item;
      const found = store.find(item.contentSha256, by);
      return found === null ? item : this.#reusedItem(item, found);
    });
    return { ...shard, items };
  }

  /** Adds the verdicts of a committed shard to the store. Resolves even if the store cannot be written. */
  async keep({ shard, outcomes, fingerprints }: ShardResult): Promise<void> {
    if (this.#store === null) return;
    const verdicts: Verdict[] = [];
    for (const [at, { contentSha256, settled }] of shard.items.entries()) {
      const judgement = outcomes[at]?.judgement ?? null;
      if (settled === null && judgement !== null && judgement.fingerprint !== null) {
        verdicts.push({ contentSha256, judgement });
      }
    }
    if (verdicts.length === 0) return;
    const { run } = this.#record;
    await this.#store.add({ run, judging: this.#judging, fingerprints, verdicts });
  }

  /** Converts an item to a reused one, without its content. */
  #reusedItem(item: JudgedItem, { judgement, fingerprint, run }: StoredVerdict): ReusedItem {
    const { seq, id, source, roles, part, turn, contentSha256, request } = item;
    const { modality, requestType } = request;
    const { policy, output } = this.#record.config;
    const snippet = output.includeContent ? allowedSnippet(policy, request, judgement) : null;
    const settled = { judgement, fingerprint, reusedFrom: run, snippet, error: null };
    return {
      ...{ seq, id, source, roles, part, turn },
      ...{ request: null, modality, requestType, contentSha256, settled },
    };
  }

  #usable(fingerprints: readonly string[]): readonly JudgedBy[] {
    const { expectFingerprint, trustDeclared = false } = this.#record.config;
    const by: JudgedBy[] = [];
    for (const fingerprint of new Set(fingerprints)) {
      if (expectFingerprint !== null && fingerprint !== expectFingerprint) continue;
      if (isDeclared(fingerprint) && !trustDeclared) continue;
      let judgedBy = this.#judgedBy.get(fingerprint);
      if (judgedBy === undefined) {
        judgedBy = { fingerprint, judging: this.#judging };
        this.#judgedBy.set(fingerprint, judgedBy);
      }
      by.push(judgedBy);
    }
    return by;
  }
}

/**
 * Whether verdicts on an item can be reused. Generations are always replayed: their verdicts depend on the cadence,
 * which is not part of their content.
 */
function isReusable(item: Item): item is JudgedItem {
  return item.settled === null && item.request.requestType !== 'generation';
}
