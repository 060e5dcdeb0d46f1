import type { KeyObject } from 'node:crypto';
import { replaysGenerations, type RunConfig } from '../config/run-config.ts';
import type { OptionalKind } from '../domain/request.ts';
import type { GuardSession, OpenGuards } from '../guard/pool/guard-session.ts';
import type { GuardPool } from '../guard/pool/pool.ts';
import { continueRun, type ContinueOptions } from './continue-run.ts';
import type { Run } from './create-run.ts';
import { openTrustedRun, prepareRun, type ResumeOptions, type RunOptions } from './prepare-run.ts';
import { openStoreFor, openStoreOf } from './reuse/open-store.ts';
import { resultOf, type RunResult } from './run-end.ts';
import type { Report } from './run-events.ts';
import { unheardClips } from './unheard-clips.ts';

export interface JudgeRunOptions extends RunOptions {
  /**
   * Opens the guards of a run. Called before anything is written; throws Failure('usage') for guards that cannot be
   * used as configured.
   */
  readonly guards: (config: RunConfig) => Promise<OpenGuards>;
  /** Ed25519 private key that signs the manifest; null for an unsigned one. */
  readonly signingKey: KeyObject | null;
}

const GENERATION: OptionalKind = { requestType: 'generation', modality: 'text' };

/**
 * Creates a run and completes it in this process. The guards are connected before the run directory is created. Rejects
 * with a Failure: `usage` for sources or guards that cannot be used, others as in continueRun.
 */
export async function startRun(config: RunConfig, options: JudgeRunOptions): Promise<RunResult> {
  const { drain, report } = options;
  const say = (line: string): void => report({ kind: 'notice', line });
  const create = await prepareRun(config, options);
  const open = await options.guards(config);
  const session = await open(drain, say);
  try {
    const store = await openStoreFor(config, { ...options, signal: drain, say });
    try {
      return await judgeRun(await create(), { retry: false, store, connect: async () => session }, options);
    } finally {
      await store?.close();
    }
  } finally {
    await session.close();
  }
}

/**
 * Continues a run from the state in its directory to its end, in this process. The guards are connected only if there
 * is something to judge: a run may lack only its final files. Rejects with a Failure: `usage` for a directory that is
 * not a run or not trusted, and for guards that cannot be used; others as in continueRun.
 */
export async function resumeRun(dir: string, options: JudgeRunOptions & ResumeOptions): Promise<RunResult> {
  const { drain, report, retry } = options;
  const say = (line: string): void => report({ kind: 'notice', line });
  const run = await openTrustedRun(dir, options);
  const { config } = run.record;
  const open = await options.guards(config);
  const opened: GuardSession[] = [];
  const connect = async (): Promise<GuardSession> => {
    const session = await open(drain, say);
    opened.push(session);
    return session;
  };
  const store = await openStoreOf(run, { ...options, signal: drain, say });
  try {
    return await judgeRun(run, { retry, store, connect }, options);
  } finally {
    await store?.close();
    for (const session of opened) await session.close();
  }
}

interface JudgeRunInput extends Required<Pick<ContinueOptions, 'retry' | 'store'>> {
  readonly connect: () => Promise<GuardSession>;
}

async function judgeRun(
  run: Run,
  { retry, store, connect }: JudgeRunInput,
  { drain, stop, report, signingKey }: JudgeRunOptions,
): Promise<RunResult> {
  report({ kind: 'begun', run });
  const failed = new AbortController();
  const continued = await continueRun(run, {
    retry,
    store,
    signingKey,
    connect: async () => {
      const { pool, died } = await connect();
      if (died.aborted) failed.abort(died.reason);
      died.addEventListener('abort', () => failed.abort(died.reason), { once: true });
      reportGuards(pool, report);
      const unheard = await unheardClips(run.sources, pool, drain);
      if (unheard !== null) report({ kind: 'unheard-clips', unheard });
      if (replaysGenerations(run.record.config) && (await pool.notJudged(GENERATION, drain)) !== null) {
        report({ kind: 'no-streams', guards: pool.status().length });
      }
      return pool;
    },
    drain,
    stop: AbortSignal.any([stop, failed.signal]),
    say: (line) => report({ kind: 'notice', line }),
    watch: (view) => report({ kind: 'judging', view }),
  });
  return resultOf(run, continued);
}

/**
 * Reports the guards that are unavailable now, and later when the last one becomes unavailable and when one is ready
 * again.
 */
function reportGuards(pool: GuardPool, report: Report): void {
  for (const { name, state } of pool.status()) {
    if (state.name === 'out') report({ kind: 'guard-out', guard: name, reason: state.reason });
  }
  let wasReady = true;
  pool.onStateChange((endpoints) => {
    const ready = endpoints.some(({ state }) => state.name === 'ready');
    if (ready !== wasReady) report({ kind: 'guards', ready });
    wasReady = ready;
  });
}
