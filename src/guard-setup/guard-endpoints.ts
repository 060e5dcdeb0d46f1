import { EMBEDDED_GUARD } from '../config/values/guard-url.ts';
import type { GuardEndpoint } from '../guard/protocol/address.ts';
import { startEmbeddedGuard, type EmbeddedGuard } from '../guard-server/embedded/embedded.ts';

export interface GuardEndpoints {
  /** One for each URL, in order: the name that records use, and the address it is reached at. */
  readonly endpoints: readonly GuardEndpoint[];
  /** What to send to an endpoint as bearer token. The function may throw what that of the configured ones throws. */
  readonly token: (endpoint: GuardEndpoint) => string | null;
  /** Resolves with a Failure when the embedded guard dies; never settles without one. */
  readonly failed: Promise<Error>;
  /** Stops the embedded guard, if there is one. May be called again. */
  close(): Promise<void>;
}

/**
 * Makes configured guard URLs reachable: starts the embedded guard for `embedded:`, leaves the others as they are.
 * `configured`: the tokens of the others.
 * Failure('internal') when the embedded guard cannot start.
 */
export async function openGuardEndpoints(
  urls: readonly string[],
  configured: (endpoint: GuardEndpoint) => string | null,
): Promise<GuardEndpoints> {
  let embedded: EmbeddedGuard | null = null;
  const endpoints: GuardEndpoint[] = [];
  for (const url of urls) {
    if (url === EMBEDDED_GUARD) embedded ??= await startEmbeddedGuard({ model: 'lite' });
    endpoints.push({ name: url, address: url === EMBEDDED_GUARD ? embedded!.address : url });
  }
  return {
    endpoints,
    token: (endpoint) => (endpoint.name === EMBEDDED_GUARD ? embedded!.token : configured(endpoint)),
    failed: embedded?.failed ?? new Promise<Error>(() => {}),
    close: async () => embedded?.close(),
  };
}
