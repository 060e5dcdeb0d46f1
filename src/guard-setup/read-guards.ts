import type { ClientTls } from '../config/keys/guard-tls.ts';
import type { GuardPolicy } from '../domain/guard/guard-family.ts';
import { readEndpoint, type EndpointReading } from '../guard/pool/read-endpoint.ts';
import { openGuardEndpoints } from './guard-endpoints.ts';
import { guardToken } from './guard-token.ts';

interface ReadGuardsOptions {
  /** Every configured guard, which decides the tokens, see guardToken; default: the guards to read. */
  readonly configured?: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Used for guards reached over TLS. */
  readonly tls: ClientTls;
  readonly guardPolicy?: GuardPolicy | null;
  /** Timeout of each request, in milliseconds. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/**
 * Reads which model answers at each guard, one guard at a time. Starts the embedded guard for `embedded:`, and stops
 * it. Rejects with the Failure of the first guard that does not answer or must not be sent its token, and with the
 * signal's reason when aborted.
 */
export async function readGuards(
  urls: readonly string[],
  { configured = urls, env, tls, guardPolicy = null, timeoutMs, signal }: ReadGuardsOptions,
): Promise<EndpointReading[]> {
  const guards = await openGuardEndpoints(urls, guardToken(env, configured));
  const { token } = guards;
  try {
    const readings: EndpointReading[] = [];
    for (const endpoint of guards.endpoints)
      readings.push(await readEndpoint(endpoint, { timeoutMs, signal, token, tls, guardPolicy }));
    return readings;
  } finally {
    await guards.close();
  }
}
