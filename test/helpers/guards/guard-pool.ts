import { afterAll, expect, onTestFinished } from 'vitest';
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
import { type EndpointReading, readEndpoint } from '../../../src/guard/pool/read-endpoint.ts';
import { startKserveHttpServer } from './kserve-http-server.ts';
import { startKserveServer } from './kserve-server.ts';
import { startOpenAiServer } from './openai-server.ts';
import { startRestGuard } from './rest-guard.ts';
import { startSocketServer } from './scripted-streams.ts';
import { startScriptedGuard } from './scripted-guard.ts';

/** What tests that run at the same time have opened; null: each test closes what it opened. */
let shared: (() => unknown)[] | null = null;

/** For a file whose tests run at the same time: what they open is closed when all of them have ended. */
export function closeAfterAll(): void {
  const opened: (() => unknown)[] = (shared = []);
  afterAll(async () => {
    shared = null;
    for (const close of opened.reverse()) await close();
  });
}

function whenOver(close: () => unknown): void {
  if (shared !== null) shared.push(close);
  else onTestFinished(async () => void (await close()));
}

/** `start`, whose servers end with the test. */
function ending<Options extends unknown[], Server extends { kill(): unknown }>(
  start: (...options: Options) => Promise<Server>,
): (...options: Options) => Promise<Server> {
  return async (...options) => {
    const started = await start(...options);
    whenOver(() => started.kill());
    return started;
  };
}

export const guard = ending(startScriptedGuard);
export const restGuard = ending(startRestGuard);
export const openAiServer = ending(startOpenAiServer);
export const kserveServer = ending(startKserveServer);
export const socketServer = ending(startSocketServer);
export const kserveHttpServer = ending(startKserveHttpServer);

export async function connect(
  guards: readonly { readonly address: string }[],
  options: Partial<PoolOptions> = {},
): Promise<GuardPool> {
  const pool = await connectGuards(
    guards.map(({ address }) => ({ name: address, address })),
    { expectFingerprint: null, maxWaitMs: 120_000, ...options },
    new AbortController().signal,
  );
  whenOver(() => pool.close());
  return pool;
}

/** What a pool says that none of these guards is good for. */
export async function refusalOf(...[guards, options]: Parameters<typeof connect>): Promise<string> {
  const error = await connect(guards, options).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ kind: 'service' });
  return (error as Error).message;
}

/** What a guard says of itself. */
export function readingOf({ address }: { readonly address: string }): Promise<EndpointReading> {
  const limits = { timeoutMs: 120_000, signal: new AbortController().signal };
  return readEndpoint({ name: address, address }, limits);
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
  attempts = 1,
): void {
  outcomes.forEach((outcome, index) => {
    if (index !== at) expect(verdict(outcome).attempts).toBe(1);
    else expect(failure(outcome)).toMatchObject({ error: { code }, attempts });
  });
}

/** Checks that all outcomes are verdicts at their first attempt. */
export function expectFirstTries(outcomes: readonly Outcome[]): void {
  for (const outcome of outcomes) expect(verdict(outcome).attempts).toBe(1);
}

/** Has requests judged by a pool whose guard then goes out; mends the guard, and expects that none of them lost a try. */
export async function expectToOutlast(
  pool: GuardPool,
  requests: readonly GuardRequest[],
  mend: () => unknown,
): Promise<void> {
  const out = stateOf(pool, 'out');
  const judged = judge(pool, requests);
  await out;
  await mend();
  expectFirstTries(await judged);
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
