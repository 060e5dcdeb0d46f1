import { setMaxListeners } from 'node:events';
import type { Judging } from '../config/run-config.ts';
import type { CanaryCheck } from '../domain/canary/canary-check.ts';
import type { Fingerprint } from '../domain/fingerprint.ts';
import type { FailedJudgement, Judgement, Outcome } from '../domain/outcome.ts';
import {
  type EmbeddedMediaRequest,
  isEmbedded,
  isMedia,
  type ItemRequest,
  type MediaRequest,
  type TextRequest,
} from '../domain/request.ts';
import { collectReusedFingerprints, type Shard, type ShardResult } from '../domain/shard.ts';
import type { Judge } from './parts/judge-parts.ts';
import { MediaJudge, type MediaJudgeOptions } from './media/media-judge.ts';
import { isTooLong, judgeLongText, type Windowable } from './windows/judge-long-text.ts';

interface ModerateOptions {
  readonly judging: Judging;
  /** Prefix of the cache session ids of the conversations. */
  readonly session: string;
  readonly signal: AbortSignal;
}

/** Number of judged shards between two checks of the guards with canaries. */
export const SHARDS_PER_CANARIES = 100;

/** Has items judged by the guards. */
export class Moderator {
  readonly #judge: Judge;
  readonly #media: MediaJudge;
  /** Models that have judged items of a shard, by `modelKey`. */
  readonly #models = new Set<string>();
  /** Shards judged since the last canaries. */
  #shards = 0;

  constructor(options: MediaJudgeOptions) {
    this.#judge = options.judge;
    this.#media = new MediaJudge(options);
  }

  /**
   * Returns one outcome per item, in the order of the items; null for resolved ones. Every `SHARDS_PER_CANARIES`
   * shards, the guards must pass the canaries again before their verdicts are returned. Rejects only if no guard is
   * available, or on abort, after all work on the shard has ended.
   */
  async moderate(shard: Shard, options: ModerateOptions): Promise<ShardResult> {
    const outcomes = await this.outcomesOf(
      shard.items.map(({ request }) => request),
      options,
    );
    const models = modelsOf(outcomes);
    for (const model of models) this.#models.add(model);
    if (models.size > 0 && ++this.#shards >= SHARDS_PER_CANARIES) await this.#askCanaries(options.signal);
    return {
      shard,
      outcomes,
      fingerprints: fingerprintsOf(shard, outcomes, this.#judge.fingerprints),
      canaries: this.#canariesOf(models),
    };
  }

  /**
   * Runs the canaries a last time if guards have judged since. Returns the last checks of all models that judged.
   * Rejects as `moderate` does.
   */
  async finish(signal: AbortSignal): Promise<readonly CanaryCheck[]> {
    if (this.#shards > 0) await this.#askCanaries(signal);
    return this.#canariesOf(this.#models);
  }

  async #askCanaries(signal: AbortSignal): Promise<void> {
    this.#shards = 0;
    await this.#judge.checkAgain?.(signal);
  }

  #canariesOf(models: ReadonlySet<string>): readonly CanaryCheck[] {
    return (this.#judge.canaries ?? []).filter((check) => models.has(modelKey(check)));
  }

  /** The outcome of each request, in order; null for null. Rejects as `moderate` does. */
  async outcomesOf(
    requests: readonly (ItemRequest | null)[],
    options: ModerateOptions,
  ): Promise<(Outcome | null)[]> {
    options.signal.throwIfAborted();
    const ending = new AbortController();
    setMaxListeners(0, ending.signal, options.signal);
    const onAbort = (): void => ending.abort(options.signal.reason);
    options.signal.addEventListener('abort', onAbort, { once: true });
    const outcomes = new Array<Outcome | null>(requests.length).fill(null);
    const texts: IndexedRequest<TextRequest>[] = [];
    const media: IndexedRequest<MediaRequest | EmbeddedMediaRequest>[] = [];
    for (const [index, request] of requests.entries()) {
      if (request === null) continue;
      if (isMedia(request) || isEmbedded(request)) media.push({ index, request });
      else texts.push({ index, request });
    }
    const together = { ...options, signal: ending.signal };
    const works = [
      this.#judgeTexts(texts, outcomes, together),
      ...media.map(async ({ index, request }) => {
        outcomes[index] = await this.#media.moderate(request, together);
      }),
    ];
    // The first failure aborts the others. They are awaited because they have files and decoders open.
    await Promise.all(works.map((work) => work.catch((error: unknown) => ending.abort(error))));
    options.signal.removeEventListener('abort', onAbort);
    ending.signal.throwIfAborted();
    return outcomes;
  }

  async #judgeTexts(
    texts: readonly IndexedRequest<TextRequest>[],
    outcomes: (Outcome | null)[],
    options: ModerateOptions,
  ): Promise<void> {
    if (texts.length === 0) return;
    const answers = await this.#judge.judge(
      texts.map(({ request }) => request),
      { session: options.session, signal: options.signal },
    );
    if (answers.length !== texts.length) {
      throw new Error(`${texts.length} requests were answered by ${answers.length} outcomes`);
    }
    const tooLong: (IndexedRequest<Windowable> & { readonly refused: FailedJudgement })[] = [];
    for (const [at, { index, request }] of texts.entries()) {
      const answer = answers[at]!;
      outcomes[index] = answer;
      if (request.requestType === 'generation') continue;
      if (isTooLong(request, answer)) tooLong.push({ index, request, refused: answer.failure });
    }
    // One at a time: each has many windows.
    for (const { index, request, refused } of tooLong) {
      outcomes[index] = await judgeLongText(request, refused, this.#judge, options);
    }
  }
}

/** A request with its index among those given. */
interface IndexedRequest<Request> {
  readonly index: number;
  readonly request: Request;
}

/**
 * Keys of the models that judged. Verdicts of one reply are consecutive, so most have the same model as the one before.
 */
function modelsOf(outcomes: readonly (Outcome | null)[]): ReadonlySet<string> {
  const models = new Set<string>();
  let last: Judgement | null = null;
  for (const outcome of outcomes) {
    const judgement = outcome?.judgement ?? null;
    if (judgement === null) continue;
    const isSame = last?.endpoint === judgement.endpoint && last.fingerprint === judgement.fingerprint;
    if (!isSame) models.add(modelKey(judgement));
    last = judgement;
  }
  return models;
}

/** Key of an endpoint and a model behind it. */
function modelKey({ endpoint, fingerprint }: Pick<CanaryCheck, 'endpoint' | 'fingerprint'>): string {
  return `${fingerprint} ${endpoint}`;
}

function fingerprintsOf(
  { items }: Shard,
  outcomes: readonly (Outcome | null)[],
  known: ReadonlyMap<string, Fingerprint>,
): readonly Fingerprint[] {
  const named = collectReusedFingerprints(items);
  for (const outcome of outcomes) {
    const id = outcome?.judgement?.fingerprint ?? null;
    if (id === null || named.has(id)) continue;
    const fingerprint = known.get(id);
    if (fingerprint === undefined) throw new Error(`fingerprint ${id} was stamped but never read`);
    named.set(id, fingerprint);
  }
  return [...named.values()];
}
