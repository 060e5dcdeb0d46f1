import type { EndpointStatus } from '../endpoint/endpoint-status.ts';
import type { GuardPool } from './pool.ts';

/** Says once when a guard that was in use goes out, and once when it is back. */
export function sayChanges(pool: GuardPool, say: (line: string) => void): void {
  const wasReady = new Map<string, boolean>();
  const look = (endpoints: readonly EndpointStatus[]): void => {
    for (const { name, state } of endpoints) {
      const before = wasReady.get(name);
      const isReady = state.name === 'ready';
      if (before === undefined && !isReady) continue;
      wasReady.set(name, isReady);
      if (before === undefined || before === isReady) continue;
      say(state.name === 'ready' ? `guard ${name} is ready again` : `guard ${name} is out: ${state.reason}`);
    }
  };
  look(pool.status());
  pool.onStateChange(look);
}
