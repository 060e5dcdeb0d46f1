import type { GuardPool } from '../../guard/pool/pool.ts';
import { ApiError } from '../api/errors.ts';

/**
 * From the start of a request, says why it took too long: because of limits, if more waits than the guards take at a time, or
 * if one of them has turned requests away since. Sending it again later helps then.
 */
export function lateAnswer(pool: Pick<GuardPool, 'status' | 'waiting'>): () => ApiError {
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
