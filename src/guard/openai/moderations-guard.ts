import { z } from 'zod';
import type { UnaryRequest } from '../../domain/request.ts';
import { CHILDREN } from '../../domain/restriction/restriction.ts';
import { MAX_FOREIGN_CATEGORIES } from '../../domain/taxonomy.ts';
import { categoryBySpelling } from '../../domain/words/category-spelling.ts';
import { AdaptiveConcurrency } from '../concurrency/concurrency.ts';
import { answers as serverAnswers, type HttpClient } from '../http/http-client.ts';
import type { Answer } from '../protocol/answer.ts';
import { HARMLESS_ROW } from '../protocol/canary.ts';
import type { CallOptions, OpenOptions, Reading, ReadyGuard, Reply } from '../protocol/connection.ts';
import { failsHarmlessText, notUsable } from '../protocol/not-usable.ts';
import type { RequestRow } from '../tensors/encode-request.ts';
import { takesOpenAi } from './chat-guard.ts';
import { declaredReading } from './declaration.ts';
import { imageParts, toTurns } from './messages.ts';
import { OpenAiCalls } from './openai-calls.ts';
import { makeVerdict } from './verdict.ts';

const PATH = '/v1/moderations';

/** Max texts in one request. Each gets its own result. */
const MAX_TEXTS = 32;
/** Initial requests in flight, each with a list of texts. */
const START_IN_FLIGHT = 4;
const MIN_IN_FLIGHT = 2;
const MAX_IN_FLIGHT = 64;

/** Such as `hate`, `hate/threatening`, `self-harm/intent`. */
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

/**
 * Opens OpenAI's moderation endpoint, or a compatible one. It has no overall score: the highest category score counts.
 * Rejects like `Connection.open`.
 */
export async function openModerations(
  client: HttpClient,
  model: string,
  { requestTimeoutMs, prove, signal }: OpenOptions,
): Promise<ReadyGuard> {
  const guard = new ModerationsGuard(client, model);
  try {
    const { answers } = await guard.judge([HARMLESS_ROW], { timeoutMs: requestTimeoutMs, signal });
    if (answers?.[0] == null) {
      throw failsHarmlessText(prove, 'its reply to a harmless text is not a moderation');
    }
  } catch (error) {
    throw notUsable(error, { signal });
  }
  const seesImages = !/text-moderation/.test(model);
  return {
    maxBatchSize: MAX_TEXTS,
    instances: null,
    concurrency: new AdaptiveConcurrency({
      start: START_IN_FLIGHT * MAX_TEXTS,
      min: MIN_IN_FLIGHT * MAX_TEXTS,
      max: MAX_IN_FLIGHT * MAX_TEXTS,
      step: MAX_TEXTS,
    }),
    takes: (requestKind) => takesOpenAi(requestKind) && (seesImages || !requestKind.startsWith('image')),
    isReady: (options) => serverAnswers(client, PATH, options),
    judge: (rows, options) => guard.judge(rows, options),
    version: { first: guard.reading(), read: (options) => guard.readVersion(options) },
    streams: null,
  };
}

class ModerationsGuard {
  readonly #calls: OpenAiCalls;
  readonly #model: string;
  /** The model named by the last reply. */
  #answeredBy = '';
  #repliesSinceRead = 0;

  constructor(client: HttpClient, model: string) {
    this.#calls = new OpenAiCalls(client);
    this.#model = model;
  }

  /**
   * Every reply names the dated model, so a reading costs a request only if there was no reply since the last one: the
   * endpoint has rate limits.
   */
  async readVersion(options: CallOptions): Promise<Reading> {
    if (this.#repliesSinceRead === 0) await this.judge([HARMLESS_ROW], options);
    return this.reading();
  }

  reading(): Reading {
    this.#repliesSinceRead = 0;
    const values = { model: this.#model, family: 'moderations', scores: 'probability' };
    return declaredReading(values, this.#answeredBy);
  }

  async judge(rows: readonly RequestRow[], options: CallOptions): Promise<Reply> {
    const requests = rows.map(({ request }) => request as UnaryRequest);
    const [first] = requests;
    const input = first?.modality === 'image' ? imageParts(first) : requests.map(lastText);
    const json = await this.#calls.post(PATH, { model: this.#model, input }, options);
    const parsed = MODERATION.safeParse(json);
    if (!parsed.success) return { answers: null, modelVersion: this.#answeredBy };
    const { model, results } = parsed.data;
    this.#answeredBy = model;
    this.#repliesSinceRead++;
    const answers =
      results.length === rows.length ? results.map((result) => result && toAnswer(result)) : null;
    return { answers, modelVersion: model };
  }
}

/** The last turn, which is judged alone: the endpoint has no roles. */
function lastText(request: UnaryRequest): string {
  if (request.modality === 'image') throw new Error('an image has no text');
  return toTurns(request).at(-1)![1];
}

/**
 * Converts a result. A category that does not apply to the input, such as hate to an image, is absent: its score of 0
 * means nothing.
 */
function toAnswer(result: z.output<typeof RESULT>): Answer {
  const applied = result.category_applied_input_types ?? {};
  const isApplied = (name: string): boolean => !(Object.hasOwn(applied, name) && applied[name]?.length === 0);
  const scores = Object.entries(result.category_scores).flatMap(([name, score]) =>
    score !== null && isApplied(name) ? keysOf(name).map((key) => [key, score] as const) : [],
  );
  const flags = Object.entries(result.categories).filter(([, isSet]) => isSet === true);
  return makeVerdict({
    flagged: result.flagged,
    probability: scores.reduce((worst, [, score]) => Math.max(worst, score), 0),
    categories: flags.flatMap(([name]) => keysOf(name)),
    scores: Object.fromEntries(scores),
  });
}

/**
 * Keys of a category. `openai/sexual/minors` restricts by itself; other servers' child exploitation categories restrict
 * by our key.
 */
function keysOf(name: string): string[] {
  const isChildren = name !== 'sexual/minors' && categoryBySpelling(name) === CHILDREN;
  return [`openai/${name}`, ...(isChildren ? [CHILDREN] : [])];
}
