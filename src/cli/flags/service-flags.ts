import { isToken } from '../../domain/bearer-token.ts';
import { Failure } from '../../domain/failure.ts';
import { isLoopback } from '../../domain/loopback.ts';
import { shown } from '../../domain/text/shown.ts';

/** Flags of metrics as typed; absent ones were not given. */
export interface MetricsFlags {
  readonly metricsPort?: string;
  readonly metricsHost?: string;
  readonly metricsOpen?: boolean;
}

/** Where metrics are to be served, and the token that every request must then carry; null: none is needed. */
export interface MetricsPlace {
  readonly host: string;
  readonly port: number;
  readonly token: string | null;
}

const METRICS_TOKEN = 'GUARDSWEEP_METRICS_TOKEN';

/**
 * Where metrics are to be served; null when no port is named. Failure('usage') for an address that other machines can
 * reach without a token in GUARDSWEEP_METRICS_TOKEN or `--metrics-open`, and for `--metrics-open` beside a token.
 */
export function metricsOf(flags: MetricsFlags, env: NodeJS.ProcessEnv): MetricsPlace | null {
  if (flags.metricsPort === undefined) return null;
  const port = wholeNumber('--metrics-port', flags.metricsPort, 0, { least: 0, most: 65_535 });
  const host = flags.metricsHost ?? '127.0.0.1';
  const token = env[METRICS_TOKEN] || null;
  if (token !== null && !isToken(token)) {
    throw new Failure('usage', `${METRICS_TOKEN} holds characters no token has`);
  }
  if (token !== null && flags.metricsOpen === true) {
    throw new Failure('usage', `--metrics-open and ${METRICS_TOKEN} contradict each other: keep one of them`);
  }
  if (token === null && flags.metricsOpen !== true && !isLoopback(host)) {
    throw new Failure(
      'usage',
      `--metrics-host ${shown(host)} can be reached from other machines: set ${METRICS_TOKEN}, ` +
        'or let anybody read the metrics with --metrics-open',
    );
  }
  return { host, port, token };
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
