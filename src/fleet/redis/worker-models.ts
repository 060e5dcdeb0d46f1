import { z } from 'zod';
import type { EndpointStatus } from '../../guard/endpoint/endpoint-status.ts';
import type { RedisLink } from '../../queue/redis/link.ts';
import { listPresent } from './presence.ts';

/** Max ids that are used: each is looked up for each item. A fleet has one or two models, and one more while it changes. */
const MAX_MODELS = 16;

const ID = z.string().regex(/^sha256:[0-9a-f]{64}$/);

const WORKER = z.looseObject({ guards: z.array(z.looseObject({ fingerprint: ID.nullable() })) });

/** What a worker announces about its guards. */
export function announcedGuards(guards: readonly EndpointStatus[]): object[] {
  return guards.map(({ name, state, fingerprint }) => ({ name, state: state.name, fingerprint }));
}

/**
 * Ids of the fingerprints that the guards of live workers last answered with; null while no worker is alive. A worker
 * whose announcement lacks them has none, as if its guards reported no version.
 */
export async function workerFingerprints(
  link: RedisLink,
  signal: AbortSignal,
): Promise<readonly string[] | null> {
  const workers = await listPresent(link, 'worker', signal);
  if (workers.length === 0) return null;
  const found = new Set<string>();
  for (const { details } of workers) {
    for (const { fingerprint } of WORKER.safeParse(details).data?.guards ?? []) {
      if (fingerprint !== null && found.size < MAX_MODELS) found.add(fingerprint);
    }
  }
  return [...found];
}
