import { isDeclared } from '../../domain/fingerprint.ts';
import type { RunRecord } from '../../config/run-config.ts';
import type { Shard, ShardResult } from '../../domain/shard.ts';
import type { ReadOptions } from '../../ingest/items/read-source.ts';
import { keptSnippet } from '../../record/outcomes/kept-content.ts';
import type { FirstSeqs } from '../../store/first-seqs.ts';
import type { VerdictStore } from '../../store/verdict-store.ts';
import type { JudgedBy } from '../../store/verdicts.ts';
import { judgingText } from './recorded-verdicts.ts';
import { settleShard } from './settle-shard.ts';

/** What a run gets from the verdict store and adds to it. Without a store, everything is judged and nothing is added. */
export class RunReuse {
  readonly #record: RunRecord;
  readonly #store: VerdictStore | null;
  readonly #judging: string;
  /** Of each fingerprint seen so far; the store looks up many contents with the same object. */
  readonly #judgedBy = new Map<string, JudgedBy>();
  #firstSeqs: { readonly pass: number; readonly of: FirstSeqs } | null = null;

  /** `store`: opened and closed by the caller. */
  constructor(record: RunRecord, store: VerdictStore | null) {
    this.#record = record;
    this.#store = store;
    this.#judging = judgingText(record.config.judging);
  }

  /** Whether shards can be settled: the run reuses verdicts, and has a store. */
  get isOn(): boolean {
    return this.#store !== null && this.#record.config.reuse;
  }

  /** Media files that need not be read again if they have not changed; undefined: all are read. */
  get readBefore(): ReadOptions['readBefore'] {
    return this.isOn && this.#record.config.rehash !== true ? this.#store?.files : undefined;
  }

  /**
   * Settles the items of a planned shard that need not be judged, see `settleShard`. `fingerprints` are the ids that the
   * guards last answered with. Shards of a pass come in the order of their seqs, and passes one after the other.
   */
  async settle(shard: Shard, fingerprints: readonly string[]): Promise<Shard> {
    const store = this.#store;
    if (store === null || !this.isOn) return shard;
    const by = this.#usable(fingerprints);
    const firstSeqs = this.#firstSeqsOf(store, shard.pass);
    const { policy, output } = this.#record.config;
    const settled = settleShard(shard, {
      verdictOn: (content) => {
        const found = store.find(content, by);
        return found?.run === this.#record.run ? null : found;
      },
      firstSeqOf: (content, seq) => firstSeqs.claim(content, seq),
      snippetOf: (request, judgement) =>
        output.includeContent ? keptSnippet(policy, request, judgement) : null,
    });
    await firstSeqs.settled();
    return settled;
  }

  /** Resolves when it is written, or cannot be, which contents were first in the shards that were settled so far. */
  get claimed(): Promise<void> {
    return this.#firstSeqs?.of.written ?? Promise.resolve();
  }

  /** Adds the verdicts of a committed shard to the store. Resolves also when the store cannot be written. */
  async keep({ shard, outcomes, fingerprints }: ShardResult): Promise<void> {
    if (this.#store === null) return;
    const verdicts = shard.items.flatMap(({ contentSha256, settled }, at) => {
      const judgement = outcomes[at]?.judgement ?? null;
      const isNew = settled === null && judgement !== null && judgement.fingerprint !== null;
      return isNew ? [{ contentSha256, judgement }] : [];
    });
    if (verdicts.length === 0) return;
    const { run } = this.#record;
    await this.#store.add({ run, judging: this.#judging, fingerprints, verdicts });
  }

  /** Removes what is only needed until the run is finished. `pass` is its latest. */
  async finished(pass: number): Promise<void> {
    const store = this.#store;
    if (store === null || !this.isOn) return;
    for (let done = 1; done <= pass; done++) await this.#firstSeqsOf(store, done).forget();
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

  #firstSeqsOf(store: VerdictStore, pass: number): FirstSeqs {
    if (this.#firstSeqs?.pass !== pass) {
      this.#firstSeqs = { pass, of: store.firstSeqs(this.#record.run, pass) };
    }
    return this.#firstSeqs.of;
  }
}
