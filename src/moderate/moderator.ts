import { setMaxListeners } from 'node:events';
import type { Judging } from '../config/run-config.ts';
import type { CanaryCheck } from '../domain/canary/canary-check.ts';
import type { Fingerprint } from '../domain/fingerprint.ts';
import type { FailedJudgement, Outcome } from '../domain/outcome.ts';
import {
  type EmbeddedImageRequest,
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

/** Has items judged by the guards. */
export class Moderator {
  readonly #judge: Judge;
  readonly #media: MediaJudge;

  constructor(options: MediaJudgeOptions) {
    this.#judge = options.judge;
    this.#media = new MediaJudge(options);
  }

  /**
   * Returns one outcome per item, in the order of the items; null for settled ones.
   * Rejects only if no guard is available, or on abort, after all work on the shard has ended.
   */
  async moderate(shard: Shard, options: ModerateOptions): Promise<ShardResult> {
    const outcomes = await this.outcomesOf(
      shard.items.map(({ request }) => request),
      options,
    );
    const { fingerprints, canaries = [] } = this.#judge;
    return {
      shard,
      outcomes,
      fingerprints: fingerprintsOf(shard, outcomes, fingerprints),
      canaries: canariesOf(outcomes, canaries),
    };
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
    const media: IndexedRequest<MediaRequest | EmbeddedImageRequest>[] = [];
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

/** The checks of the models that judged. */
function canariesOf(
  outcomes: readonly (Outcome | null)[],
  checks: readonly CanaryCheck[],
): readonly CanaryCheck[] {
  const judged = outcomes.flatMap((outcome) => outcome?.judgement ?? []);
  return checks.filter(({ endpoint, fingerprint }) =>
    judged.some((judgement) => judgement.endpoint === endpoint && judgement.fingerprint === fingerprint),
  );
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
