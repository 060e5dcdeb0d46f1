import type { EndpointStatus } from '../../guard/endpoint/endpoint-status.ts';
import type { GuardPool } from '../../guard/pool/pool.ts';
import type { Health } from '../api/runs.ts';
import type { FleetLink } from './fleet-link.ts';

/** The services that runs depend on, as this server sees them. `fleet` is null without Redis. */
export async function healthOf(
  pool: Pick<GuardPool, 'status'>,
  fleet: FleetLink | null,
  signal: AbortSignal,
): Promise<Health> {
  return { guards: pool.status().map(guardHealth), fleet: fleet && (await fleet.look(signal)) };
}

function guardHealth({ name, state, fingerprint, inFlight }: EndpointStatus): Health['guards'][number] {
  const ready = state.name === 'ready';
  return {
    endpoint: name,
    ready,
    problem: ready ? null : state.detail,
    fingerprint,
    requests_in_flight: ready ? inFlight : null,
  };
}
