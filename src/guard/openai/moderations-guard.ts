import { z } from 'zod';
import { AdaptiveConcurrency } from '../concurrency/concurrency.ts';
import { answers as serverAnswers } from '../http/answers.ts';
import type { HttpClient } from '../http/http-client.ts';
import type { Answer } from '../protocol/answer.ts';
import { HARMLESS_ROW } from '../protocol/canary.ts';
import type { CallOptions, OpenOptions, Reading, ReadyGuard, Reply } from '../protocol/connection.ts';
import { NotUsable, notUsable } from '../protocol/not-usable.ts';
import { categoryBySpelling } from '../../domain/words/category-spelling.ts';
import { CHILDREN } from '../../domain/restriction/restriction.ts';
import { MAX_FOREIGN_CATEGORIES } from '../../domain/taxonomy.ts';
import type { RequestKind, RequestRow } from '../tensors/encode-request.ts';
import { takesOpenAi } from './chat-guard.ts';
import { declaredReading } from './declaration.ts';
import { imageParts, turnsOf } from './messages.ts';
import type { OpenAiCalls } from './openai-calls.ts';
import type { UnaryRequest } from '../../domain/request.ts';
import { verdict } from './verdict.ts';

const PATH = '/v1/moderations';

/** Texts of one request, each of which gets a result of its own. */
const MAX_TEXTS = 32;
/** Requests in flight, each with a list of texts. */
const START_IN_FLIGHT = 4;
const MIN_IN_FLIGHT = 2;
const MAX_IN_FLIGHT = 64;

/** `hate`, `hate/threatening`, `self-harm/intent`. */
const categoryName = z.string().regex(/^[a-z][a-z0-9_/-]{0,60}$/);

const RESULT = z
  .object({
    flagged: z.boolean(),
    categories: z.record(categoryName, z.boolean().nullable()),
    category_scores: z.record(categoryName, z.number().min(0).max(1).nullable()),
    category_applied_input_types: z.record(categoryName, z.array(z.string()).nullable()).nullish(),
  })
  .refine(({ categories, category_scores }) => {
    const names = new Set([...Object.keys(categories), ...Object.keys(category_scores)]);
    return names.size <= MAX_FOREIGN_CATEGORIES;
  });

/** One invalid result leaves the others of its reply valid. */
const MODERATION = z.object({ model: z.string(), results: z.array(RESULT.nullable().catch(null)) });

type Result = z.output<typeof RESULT>;

/** OpenAI's moderation endpoint, or another server of it. It has no overall score: the highest of a category counts. */
export class ModerationsGuard {
  readonly #calls: OpenAiCalls;
  readonly #model: string;
  /** As the last reply named it. */
  #answeredBy = '';
  #repliesSinceRead = 0;

  constructor(calls: OpenAiCalls, model: string) {
    this.#calls = calls;
    this.#model = model;
  }

  /** `client`: the server that is called. Rejects as `Connection.open`. */
  async open(client: HttpClient, { requestTimeoutMs, prove, signal }: OpenOptions): Promise<ReadyGuard> {
    const options = { timeoutMs: requestTimeoutMs, signal };
    try {
      const { answers } = await this.#judge([HARMLESS_ROW], options);
      if (answers?.[0] == null) {
        const detail = 'its reply to a harmless text is not a moderation';
        throw prove
          ? new NotUsable('fails on harmless text', false, detail)
          : new NotUsable('not a guard', true, detail);
      }
    } catch (error) {
      throw notUsable(error, { signal });
    }
    return {
      maxBatchSize: MAX_TEXTS,
      instances: null,
      concurrency: new AdaptiveConcurrency({
        start: START_IN_FLIGHT * MAX_TEXTS,
        min: MIN_IN_FLIGHT * MAX_TEXTS,
        max: MAX_IN_FLIGHT * MAX_TEXTS,
        step: MAX_TEXTS,
      }),
      takes: (requestKind) => this.#takes(requestKind),
      isReady: (probe) => serverAnswers(client, PATH, probe),
      judge: (rows, call) => this.#judge(rows, call),
      version: { first: this.#reading(), read: (call) => this.#read(call) },
      streams: null,
    };
  }

  #takes(requestKind: RequestKind): boolean {
    const seesImages = !/text-moderation/.test(this.#model);
    return takesOpenAi(requestKind) && (seesImages || !requestKind.startsWith('image'));
  }

  /**
   * Every reply names the dated model, so a reading costs a request only where there was no reply since the last: rates of
   * this endpoint are limited.
   */
  async #read(options: CallOptions): Promise<Reading> {
    if (this.#repliesSinceRead === 0) await this.#judge([HARMLESS_ROW], options);
    return this.#reading();
  }

  #reading(): Reading {
    this.#repliesSinceRead = 0;
    return declaredReading({
      values: { model: this.#model, family: 'moderations', scores: 'probability' },
      answeredBy: this.#answeredBy,
    });
  }

  async #judge(rows: readonly RequestRow[], options: CallOptions): Promise<Reply> {
    const requests = rows.map(({ request }) => request as UnaryRequest);
    const [first] = requests;
    const input = first?.modality === 'image' ? imageParts(first) : requests.map(textOf);
    const json = await this.#calls.post(PATH, { model: this.#model, input }, options);
    const parsed = MODERATION.safeParse(json);
    if (!parsed.success) return { answers: null, modelVersion: this.#answeredBy };
    const { model, results } = parsed.data;
    this.#answeredBy = model;
    this.#repliesSinceRead++;
    const answers =
      results.length === rows.length ? results.map((result) => result && answerOf(result)) : null;
    return { answers, modelVersion: model };
  }
}

/** The endpoint knows no roles: the last turn is judged by itself. */
function textOf(request: UnaryRequest): string {
  if (request.modality === 'image') throw new Error('an image is no text');
  return turnsOf(request).at(-1)![1];
}

/** A category that does not apply to the input, such as hate to an image, is absent: its score of 0 says nothing. */
function answerOf({
  flagged,
  categories,
  category_scores,
  category_applied_input_types: applied,
}: Result): Answer {
  const isApplied = (name: string): boolean =>
    !(applied && Object.hasOwn(applied, name) && applied[name]?.length === 0);
  const scores = Object.entries(category_scores).flatMap(([name, score]) =>
    score !== null && isApplied(name) ? recordedAs(name).map((key) => [key, score] as const) : [],
  );
  const flags = Object.entries(categories).filter(([, isSet]) => isSet === true);
  return verdict({
    flagged,
    probability: scores.reduce((worst, [, score]) => Math.max(worst, score), 0),
    categories: flags.flatMap(([name]) => recordedAs(name)),
    scores: Object.fromEntries(scores),
  });
}

/** `openai/sexual/minors` restricts by itself; what another server calls child exploitation restricts by our key. */
function recordedAs(name: string): string[] {
  const isChildren = name !== 'sexual/minors' && categoryBySpelling(name) === CHILDREN;
  return [`openai/${name}`, ...(isChildren ? [CHILDREN] : [])];
}
