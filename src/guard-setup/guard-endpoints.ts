import { EMBEDDED_ALL_SCORES, isEmbedded } from '../config/values/guard-url.ts';
import type { GuardEndpoint } from '../guard/protocol/address.ts';
import {
  startEmbeddedGuard,
  startEmbeddedThread,
  type EmbeddedGuard,
} from '../guard-server/embedded/embedded.ts';

export interface GuardEndpoints {
  /** Name in records and address of each URL, in order. */
  readonly endpoints: readonly GuardEndpoint[];
  /** Returns the bearer token for an endpoint, or null. Throws what `configured` throws. */
  readonly token: (endpoint: GuardEndpoint) => string | null;
  /** Resolves with a Failure when the embedded guard dies; never settles without one. */
  readonly failed: Promise<Error>;
  /** Stops the embedded guard, if there is one. Idempotent. */
  close(): Promise<void>;
}

const embeddedOptions = (url: string) => ({ model: 'lite', allScores: url === EMBEDDED_ALL_SCORES }) as const;

/**
 * Starts loading the embedded guards among these before `openGuardEndpoints`, each in its own thread. Returns a
 * function that ends those that were not opened.
 */
export function loadEmbeddedGuards(urls: readonly string[]): () => Promise<void> {
  const ends = [...new Set(urls.filter(isEmbedded))].map((url) => startEmbeddedThread(embeddedOptions(url)));
  return async () => {
    await Promise.all(ends.map((end) => end()));
  };
}

/**
 * Converts configured guard URLs to endpoints: starts the embedded guard for `embedded:` and its variant, with an
 * address and a token of its choice. The others keep their URL, and `configured` looks up their tokens.
 * Failure('internal') when the embedded guard cannot start.
 */
export async function openGuardEndpoints(
  urls: readonly string[],
  configured: (endpoint: GuardEndpoint) => string | null,
): Promise<GuardEndpoints> {
  const embedded = new Map<string, EmbeddedGuard>();
  const close = async (): Promise<void> => {
    await Promise.all([...embedded.values()].map((guard) => guard.close()));
  };
  try {
    for (const url of urls.filter(isEmbedded)) {
      embedded.set(url, await startEmbeddedGuard(embeddedOptions(url)));
    }
  } catch (error) {
    await close();
    throw error;
  }
  return {
    endpoints: urls.map((url) => ({ name: url, address: embedded.get(url)?.address ?? url })),
    token: (endpoint) => embedded.get(endpoint.name)?.token ?? configured(endpoint),
    failed: Promise.race([...embedded.values()].map(({ failed }) => failed)),
    close,
  };
}
