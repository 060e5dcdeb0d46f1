import { EMBEDDED_GUARD } from '../config/values/guard-url.ts';
import type { GuardEndpoint } from '../guard/protocol/address.ts';
import { startEmbeddedGuard, type EmbeddedGuard } from '../guard-server/embedded/embedded.ts';

export interface GuardEndpoints {
  /** One per URL, in order: its name in records, and its address. */
  readonly endpoints: readonly GuardEndpoint[];
  /** Bearer token for an endpoint; null: none. Throws what `configured` throws. */
  readonly token: (endpoint: GuardEndpoint) => string | null;
  /** Resolves with a Failure when the embedded guard dies; never settles without one. */
  readonly failed: Promise<Error>;
  /** Stops the embedded guard, if there is one. Idempotent. */
  close(): Promise<void>;
}

/**
 * Turns configured guard URLs into endpoints: starts the embedded guard for `embedded:`, for which it
 * chooses address and token; the others keep their URL, and `configured` looks up their tokens.
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
