import { z } from 'zod';
import {
  familyOfModel,
  GUARD_FAMILIES,
  type GuardFamily,
  type GuardPolicy,
} from '../../domain/guard/guard-family.ts';
import type { UnaryRequest } from '../../domain/request.ts';
import { AdaptiveConcurrency } from '../concurrency/concurrency.ts';
import { CallError } from '../protocol/call-error.ts';
import { HARMLESS_ROW } from '../protocol/canary.ts';
import type { CallOptions, OpenOptions, Reading, ReadyGuard, Reply } from '../protocol/connection.ts';
import { failsHarmlessText, NotUsable, notUsable } from '../protocol/not-usable.ts';
import type { RequestKind } from '../tensors/encode-request.ts';
import { type Completion, readCompletion } from './completion.ts';
import { declaredReading } from './declaration.ts';
import type { Family, Question, ServedModel } from './families/family.ts';
import { graniteGuardian } from './families/granite-guardian.ts';
import { llamaGuard } from './families/llama-guard.ts';
import { policyModel } from './families/policy.ts';
import { qwen3Guard } from './families/qwen3guard.ts';
import { shieldGemma } from './families/shieldgemma.ts';
import type { OpenAiCalls } from './openai-calls.ts';

/** Timeout of calls that judge nothing, in milliseconds. */
const PROBE_TIMEOUT_MS = 5000;

/** Max requests in flight. A server batches concurrent requests, so throughput requires many. */
export const MAX_IN_FLIGHT = 512;
const START_IN_FLIGHT = 16;
const MIN_IN_FLIGHT = 4;

/** The families of chat models; the moderation endpoint is not one. */
export type ChatFamily = Exclude<GuardFamily, 'moderations'>;

/** How to ask a served model of each family. `policy` throws `NotUsable` without a written policy. */
export const FAMILIES: Readonly<Record<ChatFamily, (served: ServedModel) => Family>> = {
  'llama-guard': llamaGuard,
  qwen3guard: qwen3Guard,
  shieldgemma: shieldGemma,
  'granite-guardian': graniteGuardian,
  policy: policyModel,
};

/** Optional features that a server is asked for. */
interface Form {
  /** Alternatives per token, with their probabilities; 0 for none. */
  readonly alternatives: number;
  /** Whether answers must fit a schema. */
  readonly schema: boolean;
}

/**
 * Ordered from the most useful form to one that every server supports. vLLM and OpenAI give 20 alternatives, others 5
 * or none.
 */
const FORMS_OF_WORDS: readonly Form[] = [20, 5, 0].map((alternatives) => ({ alternatives, schema: false }));
const FORMS_OF_JSON: readonly Form[] = [true, false].map((schema) => ({ alternatives: 0, schema }));

const MODELS = z.object({ data: z.array(z.object({ id: z.string(), root: z.string().nullish() })) });
const VERSION = z.object({ version: z.string() });

/**
 * Opens a chat model behind an OpenAI-compatible server, such as vLLM, SGLang, TGI, llama.cpp or Ollama: determines its
 * family and, with a harmless text, what the server provides. A null `family` derives it from the model's name. Rejects
 * like `Connection.open`.
 */
export async function openChatGuard(
  calls: OpenAiCalls,
  { model, family, policy }: ServedModel & { readonly family: GuardFamily | null },
  { requestTimeoutMs, prove, signal }: OpenOptions,
): Promise<ReadyGuard> {
  try {
    const probe = { timeoutMs: PROBE_TIMEOUT_MS, signal };
    const root = await findRoot(calls, model, probe);
    const name = family ?? familyOfModel(model) ?? familyOfModel(root);
    if (name === null || name === 'moderations') throw unknownFamily(model);
    const guard = new ChatGuard(calls, model, name, policy);
    if (!(await guard.negotiate({ timeoutMs: requestTimeoutMs, signal }))) {
      throw failsHarmlessText(prove, `its reply to a harmless text is not an answer of the family ${name}`);
    }
    return {
      maxBatchSize: 0,
      instances: null,
      concurrency: new AdaptiveConcurrency({
        start: START_IN_FLIGHT,
        min: MIN_IN_FLIGHT,
        max: MAX_IN_FLIGHT,
        step: 1,
      }),
      takes: (requestKind) => guard.takes(requestKind),
      isReady: async (options) => {
        await findRoot(calls, model, options);
        return true;
      },
      judge: ([row], options) => guard.judge(row!.request as UnaryRequest, options),
      version: { first: await guard.readVersion(probe), read: (options) => guard.readVersion(options) },
      streams: null,
    };
  } catch (error) {
    throw notUsable(error, { signal });
  }
}

class ChatGuard {
  readonly #calls: OpenAiCalls;
  readonly #model: string;
  readonly #name: ChatFamily;
  readonly #family: Family;
  #form: Form = FORMS_OF_WORDS[0]!;
  /** Whether answers have the probabilities that the form requests. */
  #hasProbabilities = false;
  /** The model named by the last reply. */
  #answeredBy = '';

  constructor(calls: OpenAiCalls, model: string, name: ChatFamily, policy: GuardPolicy | null) {
    this.#calls = calls;
    this.#model = model;
    this.#name = name;
    this.#family = FAMILIES[name]({ model, policy });
  }

  takes(requestKind: RequestKind): boolean {
    return takesOpenAi(requestKind) && (this.#family.seesImages || !requestKind.startsWith('image'));
  }

  /** Tries one form after the other until one is answered; false if an answer does not fit the family. */
  async negotiate(options: CallOptions): Promise<boolean> {
    const forms = this.#family.hasProbabilities ? FORMS_OF_WORDS : FORMS_OF_JSON;
    for (const [index, form] of forms.entries()) {
      let hasProbabilities = form.alternatives > 0;
      let first: { question: Question; completion: Completion } | null = null;
      try {
        const answer = await this.#family.judge(HARMLESS_ROW.request, async (question) => {
          const completion = await this.#complete(question, form, options);
          hasProbabilities &&= completion?.tokens !== null;
          if (completion !== null) first ??= { question, completion };
          return completion;
        });
        this.#form = form;
        this.#hasProbabilities = hasProbabilities;
        if (first !== null) await this.#checkArguments(first, options);
        return answer !== null;
      } catch (error) {
        const isRefused = error instanceof CallError && error.fault.kind === 'refused';
        if (!isRefused || index === forms.length - 1) throw error;
      }
    }
    return false;
  }

  /**
   * Throws `NotUsable` if the server drops template arguments: the model would not be told the question, and its answer
   * would be taken for an answer to it. The prompt then has the same number of tokens whatever the arguments.
   */
  async #checkArguments(
    { question, completion }: { readonly question: Question; readonly completion: Completion },
    options: CallOptions,
  ): Promise<void> {
    const { otherArguments = [] } = this.#family;
    if (otherArguments.length === 0 || completion.promptTokens === null) return;
    const others = await Promise.all(
      otherArguments.map((templateArguments) =>
        this.#complete({ ...question, templateArguments }, this.#form, options),
      ),
    );
    if (others.some((other) => other?.promptTokens !== completion.promptTokens)) return;
    const detail = `its server ignores chat_template_kwargs, without which a model of the family ${this.#name} does not know what it is asked`;
    throw new NotUsable('not a guard', true, detail);
  }

  async judge(request: UnaryRequest, options: CallOptions): Promise<Reply> {
    const answeredBy = new Set<string>();
    const answer = await this.#family.judge(request, async (question) => {
      const completion = await this.#complete(question, this.#form, options);
      if (completion !== null) answeredBy.add(completion.model);
      if (completion === null || !this.#hasProbabilities)
        return completion && { ...completion, tokens: null };
      // A guard whose other scores are probabilities must not give a score of 0 or 1.
      return completion.tokens === null ? null : completion;
    });
    const [modelVersion = this.#answeredBy, ...others] = answeredBy;
    // If different models answered the questions about one item, its verdict belongs to no single model.
    return { answers: [others.length > 0 ? null : answer], modelVersion };
  }

  async #complete(question: Question, form: Form, options: CallOptions): Promise<Completion | null> {
    const { messages, maxTokens, templateArguments, answerSchema } = question;
    const body = {
      model: this.#model,
      messages,
      temperature: 0,
      max_tokens: maxTokens,
      ...(form.alternatives > 0 && { logprobs: true, top_logprobs: form.alternatives }),
      ...(templateArguments && { chat_template_kwargs: templateArguments }),
      ...(form.schema && answerSchema && { response_format: responseFormat(answerSchema) }),
    };
    const completion = readCompletion(await this.#calls.post('/v1/chat/completions', body, options));
    if (completion !== null) this.#answeredBy = completion.model;
    return completion;
  }

  /** Reads what the server declares. If it has no path for its version, none is declared. */
  async readVersion(options: CallOptions): Promise<Reading> {
    const [root, version] = await Promise.all([
      findRoot(this.#calls, this.#model, options),
      this.#calls.get('/version', options).catch((error: unknown) => {
        if (error instanceof CallError) return null;
        throw error;
      }),
    ]);
    const values = {
      model: this.#model,
      root: root === this.#model ? '' : root,
      'server-version': VERSION.safeParse(version).data?.version ?? '',
      family: this.#name,
      ...this.#family.declares,
      scores: this.#hasProbabilities ? 'probability' : 'binary',
    };
    return declaredReading(values, this.#answeredBy);
  }
}

/** Whether such a server may take a request: no streams, and no audio without a transcript, which is judged instead. */
export function takesOpenAi(requestKind: RequestKind): boolean {
  return requestKind !== 'audio' && requestKind !== 'generation';
}

function responseFormat(schema: object): object {
  return { type: 'json_schema', json_schema: { name: 'verdict', strict: true, schema } };
}

/**
 * Reads what the model was loaded from; empty if the server does not declare it. Throws `NotUsable` if it does not
 * serve the model.
 */
async function findRoot(calls: OpenAiCalls, model: string, options: CallOptions): Promise<string> {
  let list: unknown;
  try {
    list = await calls.get('/v1/models', options);
  } catch (error) {
    const isMissing = error instanceof CallError && error.fault.kind === 'barred' && !error.fault.fatal;
    if (isMissing) return '';
    throw error;
  }
  const parsed = MODELS.safeParse(list);
  if (!parsed.success) return '';
  // Ollama lists tags, and accepts a name without one.
  const served = parsed.data.data.find(({ id }) => id === model || id === `${model}:latest`);
  if (served === undefined)
    throw new NotUsable('unknown model', true, `it does not serve the model ${model}`);
  return served.root ?? '';
}

function unknownFamily(model: string): NotUsable {
  const families = GUARD_FAMILIES.join(', ');
  const detail = `the family of the model ${model} is not known by its name: add &family= and one of ${families}`;
  return new NotUsable('not a guard', true, detail);
}
