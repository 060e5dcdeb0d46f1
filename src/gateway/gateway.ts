import type { Judging } from '../config/run-config.ts';
import type { Failure } from '../domain/failure.ts';
import type { GuardPool } from '../guard/pool/pool.ts';
import { type SecondSite, startHttpServer } from '../http/http-server.ts';
import type { Readiness } from '../http/metrics-server.ts';
import type { DueText } from '../http/streams/due-text.ts';
import { ModerationStreams } from '../http/streams/moderation-streams.ts';
import type { JudgeEvents, NotReady, PrefixJudge, StreamJudging } from '../http/streams/prefix-judge.ts';
import { responseStreams } from '../http/streams/response-stream.ts';
import { STREAM_LIMITS, type StreamLimits } from '../http/streams/stream-limits.ts';
import type { StreamSettings } from '../http/streams/stream-settings.ts';
import { Moderator } from '../moderate/moderator.ts';
import { Normalizer } from '../normalize/normalizer.ts';
import { ApiError } from './api/errors.ts';
import { createApp } from './app.ts';
import { GuardWatch } from './guard-watch.ts';
import { GUARD_GRACE_MS, httpLimits, MAX_STREAMS } from './limits.ts';
import { gatewayMetrics } from './metrics.ts';
import { Moderation } from './moderation.ts';
import { Intake } from './requests/intake.ts';
import { OpenRequests } from './requests/open-requests.ts';
import { Uploads } from './requests/uploads.ts';
import { notReadyOf } from './streams/relay-fault.ts';
import { RelayedStream } from './streams/relayed-stream.ts';

export interface GatewayOptions {
  readonly pool: GuardPool;
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  /** Required of every request as `authorization: Bearer <token>`, unless null. */
  readonly token: string | null;
  readonly judging: Judging;
  /** Max concurrent requests. */
  readonly maxConcurrency: number;
  /** Time limit from the headers of a request to its reply, in milliseconds. */
  readonly timeoutMs: number;
  /** How long requests wait for a guard to come back, in milliseconds. Default 5000. */
  readonly guardGraceMs?: number;
  /** Overrides of STREAM_LIMITS and MAX_STREAMS. */
  readonly streamLimits?: Partial<StreamLimits>;
  /** Whether the gateway is ready only while a guard is. Default true. */
  readonly needsGuard?: boolean;
  /** Further conditions for readiness. Default: none. */
  readonly needs?: Readiness;
  /** Serves all paths outside the API. By default nothing does. */
  readonly beside?: Omit<SecondSite, 'takes'> | null;
  /** Called with a failure after which no request can succeed any more. */
  readonly onFailure: (failure: Failure) => void;
}

export interface Gateway {
  /** `http://127.0.0.1:9000`. */
  readonly origin: string;
  /**
   * Stops listening, ends moderation streams, and waits for open requests, which end at once when `stop` aborts. Leaves
   * the pool open.
   */
  close(stop: AbortSignal): Promise<void>;
}

/** Serves the REST API of the guard's contract in front of a pool. Failure('usage') when the port cannot be bound. */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { pool, host, port, token, judging, maxConcurrency, timeoutMs, onFailure, beside = null } = options;
  const { needsGuard = true, needs = {} } = options;
  const uploads = await Uploads.create();
  const normalizer = Normalizer.open();
  const openRequests = new OpenRequests(timeoutMs, () => lateAnswer(pool));
  const intake = new Intake(maxConcurrency);
  const guardWatch = new GuardWatch(pool, {
    graceMs: options.guardGraceMs ?? GUARD_GRACE_MS,
    down: (answer) => {
      openRequests.abortAll(answer);
      streams.endAll(notReadyOf(answer));
    },
  });
  const streams = new ModerationStreams(new RelayJudging(pool, guardWatch), {
    ...STREAM_LIMITS,
    streams: MAX_STREAMS,
    ...options.streamLimits,
  });
  const metrics = gatewayMetrics({
    pool,
    streams,
    open: () => openRequests.size,
    waiting: () => intake.waiting,
  });
  const moderator = new Moderator({ judge: pool, normalizer, folders: uploads });
  const moderation = new Moderation(moderator, judging);
  const site = await createApp({
    ...{ moderation, uploads, intake, openRequests, guardWatch, metrics, onFailure },
    readiness: { ...(needsGuard && { guard: () => guardWatch.isReady }), ...needs },
    needsToken: token !== null,
  });
  const closeParts = async (): Promise<void> => {
    guardWatch.close();
    await normalizer.close();
    await uploads.close();
  };
  try {
    const server = await startHttpServer({
      ...{ what: 'the gateway', host, port, token, ...site },
      limits: httpLimits(maxConcurrency, timeoutMs),
      upgrade: responseStreams(streams),
      beside: beside && { ...beside, takes: (url) => !isOfGateway(url) },
    });
    return {
      origin: server.origin,
      close: async (stop) => {
        streams.close();
        const end = (): void =>
          openRequests.abortAll(new ApiError('GUARD_UNAVAILABLE', 'the gateway is shutting down'));
        if (stop.aborted) end();
        else stop.addEventListener('abort', end, { once: true });
        await server.close();
        stop.removeEventListener('abort', end);
        await closeParts();
      },
    };
  } catch (error) {
    await closeParts();
    throw error;
  }
}

/** Whether a URL, as in the first line of a request, is one of the gateway's paths. */
function isOfGateway(url: string): boolean {
  return /^\/(?:v1\/|(?:healthz|readyz|metrics|openapi\.json)(?:\?|$))/.test(url);
}

/**
 * Prepares, at the start of a request, the answer in case it takes too long: because of limits, if more requests wait
 * than the guards take at a time, or if a guard has rejected requests since. Retrying later helps then.
 */
function lateAnswer(pool: Pick<GuardPool, 'status' | 'waiting'>): () => ApiError {
  const before = overloads(pool);
  return () => {
    const limited =
      pool.waiting > 0 ||
      overloads(pool) > before ||
      pool.status().some(({ state }) => state.name === 'out' && state.reason === 'rate limited');
    return limited
      ? new ApiError('GUARD_OVERLOADED', 'the guards did not take the request in time: they have too many')
      : new ApiError('TIMEOUT', 'the request took too long');
  };
}

function overloads(pool: Pick<GuardPool, 'status'>): number {
  return pool.status().reduce((sum, { retries }) => sum + (retries.GUARD_OVERLOADED ?? 0), 0);
}

/** Lets guards judge the streams of the gateway: each stream is relayed to a separate guard stream. */
class RelayJudging implements StreamJudging {
  readonly #pool: GuardPool;
  readonly #guardWatch: GuardWatch;

  constructor(pool: GuardPool, guardWatch: GuardWatch) {
    this.#pool = pool;
    this.#guardWatch = guardWatch;
  }

  notReady(): NotReady | null {
    const { refusal } = this.#guardWatch;
    return refusal === null ? null : notReadyOf(refusal);
  }

  /** Null, because the guard knows how long a prompt may be. */
  faultOfPrompt(): null {
    return null;
  }

  judge(settings: StreamSettings, due: DueText, events: JudgeEvents): PrefixJudge {
    return new RelayedStream(this.#pool, settings, due, events);
  }
}
