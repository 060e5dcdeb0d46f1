import { afterAll, afterEach, expect } from 'vitest';
import type { ItemCode } from '../../../src/domain/item-error.ts';
import type { FailedJudgement, Judgement, Outcome } from '../../../src/domain/outcome.ts';
import type {
  AudioRequest,
  GenerationRequest,
  GuardRequest,
  ImageRequest,
  MultiturnRequest,
  PromptRequest,
  ResponseRequest,
  Turn,
} from '../../../src/domain/request.ts';
import { connectGuards, type PoolOptions } from '../../../src/guard/pool/connect-guards.ts';
import type { GuardPool } from '../../../src/guard/pool/pool.ts';
import {
  type KserveHttpOptions,
  type KserveHttpServer,
  startKserveHttpServer,
} from './kserve-http-server.ts';
import { type KserveServer, type KserveServerOptions, startKserveServer } from './kserve-server.ts';
import { type OpenAiServer, type OpenAiServerOptions, startOpenAiServer } from './openai-server.ts';
import { type RestGuard, type RestGuardOptions, startRestGuard } from './rest-guard.ts';
import { startSocketServer, type StreamServer } from './scripted-streams.ts';
import { type ScriptedGuard, type ScriptedGuardOptions, startScriptedGuard } from './scripted-guard.ts';

const open: (() => unknown)[] = [];

/** Like `closeAfterEach`, for tests that run at the same time: closes when all of them have ended. */
export function closeAfterAll(): void {
  afterAll(async () => {
    for (const close of open.splice(0).reverse()) await close();
  });
}

/** Ends, after each test of the file that calls this, what the test opened with the functions below. */
export function closeAfterEach(): void {
  afterEach(async () => {
    for (const close of open.splice(0).reverse()) await close();
  });
}

export async function guard(options?: ScriptedGuardOptions): Promise<ScriptedGuard> {
  const started = await startScriptedGuard(options);
  open.push(() => started.kill());
  return started;
}

export async function restGuard(options?: RestGuardOptions): Promise<RestGuard> {
  const started = await startRestGuard(options);
  open.push(() => started.kill());
  return started;
}

export async function openAiServer(options: OpenAiServerOptions): Promise<OpenAiServer> {
  const started = await startOpenAiServer(options);
  open.push(() => started.kill());
  return started;
}

export async function kserveServer(options?: KserveServerOptions): Promise<KserveServer> {
  const started = await startKserveServer(options);
  open.push(() => started.kill());
  return started;
}

export async function socketServer(options?: Parameters<typeof startSocketServer>[0]): Promise<StreamServer> {
  const started = await startSocketServer(options);
  open.push(() => started.kill());
  return started;
}

export async function kserveHttpServer(options?: KserveHttpOptions): Promise<KserveHttpServer> {
  const started = await startKserveHttpServer(options);
  open.push(() => started.kill());
  return started;
}

export async function connect(
  guards: readonly { readonly address: string }[],
  options: Partial<PoolOptions> = {},
): Promise<GuardPool> {
  const pool = await connectGuards(
    guards.map(({ address }) => ({ name: address, address })),
    { expectFingerprint: null, maxWaitMs: 20_000, ...options },
    new AbortController().signal,
  );
  open.push(() => pool.close());
  return pool;
}

export function prompt(text: string): PromptRequest {
  return { requestType: 'prompt', modality: 'text', text };
}

/** `text 0`, `text 1`, … */
export function prompts(count: number): PromptRequest[] {
  return Array.from({ length: count }, (_, index) => prompt(`text ${index}`));
}

export function image(bytes: string | Buffer, caption: string | null = null): ImageRequest {
  return { requestType: 'prompt', modality: 'image', image: Buffer.from(bytes), caption };
}

export function audio(bytes: string | Buffer, transcript: string | null = null): AudioRequest {
  return { requestType: 'prompt', modality: 'audio', audio: Buffer.from(bytes), transcript };
}

/** The request for a turn of a conversation, the last one unless `turns` says another. `of`: its first seq. */
export function conversation(
  messages: readonly Turn[],
  { turns = messages.length, of = null }: { readonly turns?: number; readonly of?: number | null } = {},
): MultiturnRequest {
  return { requestType: 'multiturn', modality: 'text', messages, turns, conversation: of };
}

export function response(prompt: string | null, response: string): ResponseRequest {
  return { requestType: 'response', modality: 'text', prompt, response };
}

/** A generation; a verdict is asked for after every `cadenceChunks` chunks. */
export function generation(chunks: readonly string[], cadenceChunks = 1): GenerationRequest {
  return { requestType: 'generation', modality: 'text', prompt: 'say it', chunks, cadenceChunks };
}

export function judge(pool: GuardPool, requests: readonly GuardRequest[]): Promise<Outcome[]> {
  return pool.judge(requests, { session: 'session', signal: new AbortController().signal });
}

export function verdict(outcome: Outcome | undefined): Judgement {
  if (!outcome?.judgement) throw new Error(`not a verdict: ${JSON.stringify(outcome)}`);
  return outcome.judgement;
}

export function failure(outcome: Outcome | undefined): FailedJudgement {
  if (!outcome?.failure) throw new Error(`not an error: ${JSON.stringify(outcome)}`);
  return outcome.failure;
}

/** Checks that one outcome is an error with this code, and that the others are verdicts at their first attempt. */
export function expectOnlyFailure(
  outcomes: readonly Outcome[],
  at: number,
  code: ItemCode,
  attempts: number | null = 1,
): void {
  outcomes.forEach((outcome, index) => {
    if (index !== at) verdict(outcome);
    else expect(failure(outcome)).toMatchObject({ error: { code }, ...(attempts !== null && { attempts }) });
  });
}

/** Resolves once an endpoint, the one of this name if one is given, has become ready or gone out. */
export function stateOf(pool: GuardPool, state: 'ready' | 'out', name?: string): Promise<void> {
  return new Promise((resolve) => {
    const stop = pool.onStateChange((endpoints) => {
      const named = endpoints.filter((endpoint) => name === undefined || endpoint.name === name);
      if (!named.some((endpoint) => endpoint.state.name === state)) return;
      stop();
      resolve();
    });
  });
}
