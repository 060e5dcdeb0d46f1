import { Failure } from '../../domain/failure.ts';
import type { Endpoint } from '../endpoint/endpoint.ts';

/** Whether verdicts can be expected from any endpoint. */
export function anyUsable(endpoints: readonly Endpoint[]): boolean {
  return endpoints.some(({ dispatcher }) => dispatcher?.usable === true);
}

/** Per endpoint, why it is not usable. Only for endpoints of which none is. */
export function describeUnusable(endpoints: readonly Endpoint[]): string {
  return endpoints
    .map(({ name, state }) => `${name}: ${state.name === 'out' ? state.detail : 'overloaded'}`)
    .join('; ');
}

export function noneUsable(endpoints: readonly Endpoint[], waitedMs: number): Failure {
  const seconds = Math.round(waitedMs / 100) / 10;
  return new Failure('service', `no guard became usable within ${seconds} s: ${describeUnusable(endpoints)}`);
}
