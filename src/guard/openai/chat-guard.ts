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
import { NotUsable, notUsable } from '../protocol/not-usable.ts';
import type { RequestKind } from '../tensors/encode-request.ts';
import { type Completion, readCompletion } from './completion.ts';
import { declaredReading } from './declaration.ts';
import { makeFamily } from './families/families.ts';
import type { Family, Question } from './families/family.ts';
import type { OpenAiCalls } from './openai-calls.ts';

/** Timeout of calls that judge nothing, in milliseconds. */
const PROBE_TIMEOUT_MS = 5000;

/** Requests in flight. A server batches what it has at a time, so throughput comes from many. */
export const MAX_IN_FLIGHT = 512;
const START_IN_FLIGHT = 16;
const MIN_IN_FLIGHT = 4;

export interface ChatModel {
  readonly model: string;
  /** Null: to be told from the model's name. */
  readonly family: GuardFamily | null;
  readonly policy: GuardPolicy | null;
}

/** What a server is asked for beside the messages. */
interface Form {
  /** Alternatives a token, with their probabilities; 0: none. */
  readonly alternatives: number;
  /** Whether answers must fit a schema. */
  readonly schema: boolean;
}

/** From the most that is of use to what every server takes. vLLM and OpenAI give 20 alternatives, others 5 or none. */
const FORMS_OF_WORDS: readonly Form[] = [20, 5, 0].map((alternatives) => ({ alternatives, schema: false }));
const FORMS_OF_JSON: readonly Form[] = [true, false].map((schema) => ({ alternatives: 0, schema }));

const MODELS = z.object({ data: z.array(z.object({ id: z.string(), root: z.string().nullish() })) });
const VERSION = z.object({ version: z.string() });

/** A chat model behind an OpenAI-compatible server, such as vLLM, SGLang, TGI, llama.cpp or Ollama. */
export class ChatGuard {
  readonly #calls: OpenAiCalls;
  readonly #model: string;
  readonly #family: Family;
  #form: Form;
  /** Whether answers have the probabilities that the form asks for. */
  #hasProbabilities: boolean;
  /** As the last reply named it. */
  #answeredBy = '';

  private constructor(calls: OpenAiCalls, model: string, family: Family) {
    this.#calls = calls;
    this.#model = model;
    this.#family = family;
    this.#form = formsOf(family)[0]!;
    this.#hasProbabilities = this.#form.alternatives > 0;
  }

  /** Finds out which family it is and what the server gives, by a harmless text. Rejects as `Connection.open`. */
  static async open(
    calls: OpenAiCalls,
    { model, family, policy }: ChatModel,
    { requestTimeoutMs, prove, signal }: OpenOptions,
  ): Promise<ReadyGuard> {
    try {
      const served = await servedAs(calls, model, { timeoutMs: PROBE_TIMEOUT_MS, signal });
      const name = family ?? familyOfModel(model) ?? familyOfModel(served.root);
      if (name === null || name === 'moderations') throw unknownFamily(model);
      const guard = new ChatGuard(calls, model, makeFamily(name, { model, policy }));
      const options = { timeoutMs: requestTimeoutMs, signal };
      const isGuard = await guard.#negotiate(formsOf(guard.#family), options);
      if (!isGuard) {
        const detail = `its reply to a harmless text is not an answer of the family ${name}`;
        throw prove
          ? new NotUsable('fails on harmless text', false, detail)
          : new NotUsable('not a guard', true, detail);
      }
      return await guard.#ready({ timeoutMs: PROBE_TIMEOUT_MS, signal });
    } catch (error) {
      throw notUsable(error, { signal });
    }
  }

  /** Tries one form after the other until one is answered; false when an answer is none of the family. */
  async #negotiate(forms: readonly Form[], options: CallOptions): Promise<boolean> {
    for (const [index, form] of forms.entries()) {
      let hasProbabilities = form.alternatives > 0;
      let asked: { question: Question; completion: Completion } | null = null;
      try {
        const answer = await this.#family.judge(HARMLESS_ROW.request, async (question) => {
          const completion = await this.#complete(question, form, options);
          hasProbabilities &&= completion?.tokens !== null;
          if (completion !== null) asked ??= { question, completion };
          return completion;
        });
        this.#form = form;
        this.#hasProbabilities = hasProbabilities;
        if (asked !== null) await this.#checkArguments(asked, options);
        return answer !== null;
      } catch (error) {
        const isRefused = error instanceof CallError && error.fault.kind === 'refused';
        if (!isRefused || index === forms.length - 1) throw error;
      }
    }
    return false;
  }

  /**
   * Throws `NotUsable` when the server does not pass template arguments on: it would leave out what is asked, and each answer
   * would be taken for one to another question. The prompt has the same number of tokens then, whatever the arguments.
   */
  async #checkArguments(
    { question, completion }: { readonly question: Question; readonly completion: Completion },
    options: CallOptions,
  ): Promise<void> {
    const { name, otherArguments = [] } = this.#family;
    if (otherArguments.length === 0 || completion.promptTokens === null) return;
    const others = await Promise.all(
      otherArguments.map((templateArguments) =>
        this.#complete({ ...question, templateArguments }, this.#form, options),
      ),
    );
    if (others.some((other) => other?.promptTokens !== completion.promptTokens)) return;
    const detail = `its server ignores chat_template_kwargs, without which a model of the family ${name} does not know what it is asked`;
    throw new NotUsable('not a guard', true, detail);
  }

  /** With the first reading. */
  async #ready(options: CallOptions): Promise<ReadyGuard> {
    return {
      maxBatchSize: 0,
      instances: null,
      concurrency: new AdaptiveConcurrency({
        start: START_IN_FLIGHT,
        min: MIN_IN_FLIGHT,
        max: MAX_IN_FLIGHT,
        step: 1,
      }),
      takes: (requestKind) => this.#takes(requestKind),
      isReady: async (probe) => {
        await servedAs(this.#calls, this.#model, probe);
        return true;
      },
      judge: async ([row], call) => this.#reply(row!.request as UnaryRequest, call),
      version: { first: await this.#read(options), read: (call) => this.#read(call) },
      streams: null,
    };
  }

  #takes(requestKind: RequestKind): boolean {
    return takesOpenAi(requestKind) && this.#family.takes(requestKind);
  }

  async #reply(request: UnaryRequest, options: CallOptions): Promise<Reply> {
    const form = this.#form;
    const answeredBy = new Set<string>();
    const answer = await this.#family.judge(request, async (question) => {
      const completion = await this.#complete(question, form, options);
      if (completion !== null) answeredBy.add(completion.model);
      if (completion === null || !this.#hasProbabilities)
        return completion && { ...completion, tokens: null };
      // A score is never made up by a guard whose other scores are probabilities.
      return completion.tokens === null ? null : completion;
    });
    const [modelVersion = this.#answeredBy, ...others] = answeredBy;
    // Questions about one item that several models answered are a verdict of none.
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
      ...(form.schema && answerSchema && { response_format: jsonOf(answerSchema) }),
    };
    const completion = readCompletion(await this.#calls.post('/v1/chat/completions', body, options));
    if (completion !== null) this.#answeredBy = completion.model;
    return completion;
  }

  /** The server may be asked for its version in a way of its own; where it has none, that is not declared. */
  async #read(options: CallOptions): Promise<Reading> {
    const [{ root }, version] = await Promise.all([
      servedAs(this.#calls, this.#model, options),
      this.#calls.get('/version', options).catch((error: unknown) => {
        if (error instanceof CallError) return null;
        throw error;
      }),
    ]);
    return this.#declared(this.#answeredBy, {
      root: root === this.#model ? '' : root,
      'server-version': VERSION.safeParse(version).data?.version ?? '',
    });
  }

  #declared(answeredBy: string, server: Readonly<Record<string, string>> = {}): Reading {
    const { name, declares } = this.#family;
    const scores = this.#hasProbabilities ? 'probability' : 'binary';
    return declaredReading({
      values: { model: this.#model, ...server, family: name, ...declares, scores },
      answeredBy,
    });
  }
}

/** As far as is known before the guard is asked: no sound, which is judged by its transcript, and no streams. */
export function takesOpenAi(requestKind: RequestKind): boolean {
  return requestKind !== 'audio' && requestKind !== 'generation';
}

function formsOf({ hasProbabilities }: Family): readonly Form[] {
  return hasProbabilities ? FORMS_OF_WORDS : FORMS_OF_JSON;
}

function jsonOf(schema: object): object {
  return { type: 'json_schema', json_schema: { name: 'verdict', strict: true, schema } };
}

/** What the model was loaded from, where the server says so. Throws `NotUsable` when it serves no such model. */
async function servedAs(
  calls: OpenAiCalls,
  model: string,
  options: CallOptions,
): Promise<{ readonly root: string }> {
  let list: unknown;
  try {
    list = await calls.get('/v1/models', options);
  } catch (error) {
    const isMissing = error instanceof CallError && error.fault.kind === 'barred' && !error.fault.fatal;
    if (isMissing) return { root: '' };
    throw error;
  }
  const parsed = MODELS.safeParse(list);
  if (!parsed.success) return { root: '' };
  // Ollama lists tags, and takes a name without one.
  const served = parsed.data.data.find(({ id }) => id === model || id === `${model}:latest`);
  if (served === undefined)
    throw new NotUsable('unknown model', true, `it does not serve the model ${model}`);
  return { root: served.root ?? '' };
}

function unknownFamily(model: string): NotUsable {
  const families = GUARD_FAMILIES.join(', ');
  const detail = `the family of the model ${model} is not known by its name: add &family= and one of ${families}`;
  return new NotUsable('not a guard', true, detail);
}
