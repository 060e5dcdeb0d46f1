import { afterAll, expect, onTestFinished } from 'vitest';
import type { Outcome } from '../../../src/domain/outcome.ts';
import type { GuardRequest } from '../../../src/domain/request.ts';
import { connectGuards, type PoolOptions } from '../../../src/guard/pool/connect-guards.ts';
import type { GuardPool } from '../../../src/guard/pool/pool.ts';
import { type EndpointReading, readEndpoint } from '../../../src/guard/pool/read-endpoint.ts';
import { startKserveHttpServer } from './kserve-http-server.ts';
import { startKserveServer } from './kserve-server.ts';
import { startOpenAiServer } from './openai-server.ts';
import { expectFirstTries } from './outcomes.ts';
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

/** A guard that is started with these options, and a pool of it alone. */
export async function connected<Options, Server extends { readonly address: string }>(
  start: (options: Options) => Promise<Server>,
  options?: Options,
  ofPool?: Partial<PoolOptions>,
): Promise<{ readonly server: Server; readonly pool: GuardPool }> {
  const server = await start(options as Options);
  return { server, pool: await connect([server], ofPool) };
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

export function judge(pool: GuardPool, requests: readonly GuardRequest[]): Promise<Outcome[]> {
  return pool.judge(requests, { session: 'session', signal: new AbortController().signal });
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
