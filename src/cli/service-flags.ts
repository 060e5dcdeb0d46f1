import { redisAddressOf, type RedisAddress } from '../config/redis-url.ts';
import { Failure } from '../domain/failure.ts';

/** Flags of metrics as typed; absent ones were not given. */
export interface MetricsFlags {
  readonly metricsPort?: string;
  readonly metricsHost?: string;
}

/** Where metrics are to be served; null when no port is named. */
export function metricsOf(flags: MetricsFlags): { readonly host: string; readonly port: number } | null {
  if (flags.metricsPort === undefined) return null;
  const port = wholeNumber('--metrics-port', flags.metricsPort, 0, { least: 0, most: 65_535 });
  return { host: flags.metricsHost ?? '127.0.0.1', port };
}

/** The Redis that a process of the fleet cannot do without. */
export function redisOf(flag: string | undefined, env: NodeJS.ProcessEnv): RedisAddress {
  const address = redisAddressOf(flag, env);
  if (address === null) throw new Failure('usage', 'name the Redis of the fleet with --redis or REDIS_URL');
  return address;
}

/** A whole number given by a flag, within bounds. */
export function wholeNumber(
  place: string,
  value: string | undefined,
  fallback: number,
  { least, most }: { readonly least: number; readonly most: number },
): number {
  if (value === undefined) return fallback;
  const number = /^\d{1,6}$/.test(value) ? Number(value) : Number.NaN;
  if (!(number >= least && number <= most)) {
    throw new Failure('usage', `${place}: expected a number from ${least} to ${most}`);
  }
  return number;
}
