import type { ClientTls } from '../../config/keys/guard-tls.ts';
import { Failure } from '../../domain/failure.ts';
import type { GuardPolicy } from '../../domain/guard/guard-family.ts';
import type { Say } from '../../domain/say.ts';
import type { GuardEndpoint } from '../protocol/address.ts';
import type { ModelCheck } from '../endpoint/model-check.ts';
import type { CallOptions } from '../protocol/connection.ts';
import type { EndpointTarget } from '../endpoint/endpoint.ts';
import { transportOf } from '../transports/transports.ts';
import { LivePool } from './live-pool.ts';
import type { GuardPool } from './pool.ts';

export interface PoolOptions {
  /** Fingerprint id that every guard must have; null to accept any. A guard over REST has none. */
  readonly expectFingerprint: string | null;
  /**
   * How long requests wait while no guard is usable, in milliseconds since the last verdict or return of a guard. If
   * null, they wait until aborted; for a server, whose guards may always come back.
   */
  readonly maxWaitMs: number | null;
  /**
   * Whether verdicts name the model that they came from. Default true. A verdict then waits up to 0.5 s until the
   * guard's version has been read once more; otherwise it has no fingerprint.
   */
  readonly stampVerdicts?: boolean;
  /** How long to wait for guards when connecting, in milliseconds. Default 30,000. */
  readonly startTimeoutMs?: number;
  /**
   * Whether to wait for guards at all. Default true. If false, none may be ready or even configured yet: `say` gets a
   * line when none is ready in time or one needs a changed setting, and requests wait.
   */
  readonly waitsForGuards?: boolean;
  /** Takes one message for users when connecting takes long. */
  readonly say?: Say;
  /** Timeout of one request to the guard, in milliseconds. Default 60,000. */
  readonly requestTimeoutMs?: number;
  /** Bearer token or key to send to an endpoint; null or omitted for none. */
  readonly token?: (endpoint: GuardEndpoint) => string | null;
  /** Used for endpoints reached over TLS. Default: what Node trusts, and no certificate. */
  readonly tls?: ClientTls;
  /** Policy for models that judge by a written one; null or omitted for none. */
  readonly guardPolicy?: GuardPolicy | null;
  /**
   * Check that every model must pass before it judges; null or omitted for none. A model that fails it fails the pool.
   */
  readonly modelCheck?: ModelCheck | null;
}

const START_TIMEOUT_MS = 30_000;
/** Max time to look up the addresses of a name, in milliseconds; part of the start timeout. */
const LOOKUP_TIMEOUT_MS = 5000;
const REQUEST_TIMEOUT_MS = 60_000;

/**
 * Connects to every guard and waits until they are ready and negotiated. One ready guard is enough: the others get 5 s
 * more, and are probed later if they are not ready by then. Failure('service') when none is ready within
 * `startTimeoutMs`, and at once when a guard needs a changed setting: wrong key, unknown model, tensors that do not
 * match the contract, a fingerprint other than expected. Failure('usage') when a fingerprint is expected of a guard
 * over REST, which reports none. Rejects with the signal's reason when aborted. Guards that are not ready are retried
 * as long as the pool is open.
 */
export async function connectGuards(
  endpoints: readonly GuardEndpoint[],
  options: PoolOptions,
  signal: AbortSignal,
): Promise<GuardPool> {
  const { waitsForGuards = true, say = () => {} } = options;
  if (endpoints.length === 0 && waitsForGuards) throw new Failure('usage', 'no guard is named');
  signal.throwIfAborted();
  const startedAt = performance.now();
  const startTimeoutMs = options.startTimeoutMs ?? START_TIMEOUT_MS;
  const targets = await targetsOf(endpoints, options, {
    timeoutMs: Math.min(LOOKUP_TIMEOUT_MS, startTimeoutMs),
    signal,
  });
  const pool = new LivePool(targets, {
    requestTimeoutMs: options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS,
    expectFingerprint: options.expectFingerprint,
    maxWaitMs: options.maxWaitMs,
    stampVerdicts: options.stampVerdicts ?? true,
    modelCheck: options.modelCheck ?? null,
  });
  if (targets.length === 0) return pool;
  const started = pool.start({ timeoutMs: startTimeoutMs, startedAt, say }, signal);
  if (!waitsForGuards) {
    started.catch((error: unknown) => {
      if (error instanceof Failure && error.kind === 'service')
        say(`${error.message}; trying again`, { level: 'warn', event: 'waiting' });
    });
    return pool;
  }
  try {
    await started;
    return pool;
  } catch (error) {
    await pool.close();
    throw error;
  }
}

/**
 * Resolves the servers behind the endpoints. Rejects with Failure('usage') like `connectGuards`, and when an address is
 * malformed.
 */
async function targetsOf(
  endpoints: readonly GuardEndpoint[],
  { expectFingerprint, token = () => null, tls = {}, guardPolicy = null }: PoolOptions,
  lookup: CallOptions,
): Promise<EndpointTarget[]> {
  // Tokens first: an invalid one is reported before any lookup.
  const found = endpoints.map((endpoint) => {
    const transport = transportOf(endpoint);
    if (expectFingerprint !== null && transport.unversioned !== null) {
      throw new Failure(
        'usage',
        `guard ${endpoint.name}: over ${transport.unversioned} a guard reports no fingerprint, so none can be expected; name its gRPC address`,
      );
    }
    return { endpoint, transport, options: { token: token(endpoint), tls, guardPolicy } };
  });
  const targets = found.map(async ({ endpoint, transport, options }) => {
    const { kind, takes, connector } = transport;
    const servers = (await transport.servers?.(endpoint, lookup)) ?? [
      { name: endpoint.name, connect: connector(endpoint) },
    ];
    return servers.map(({ name, connect }) => ({ name, kind, takes, connect: () => connect(options) }));
  });
  return (await Promise.all(targets)).flat();
}
