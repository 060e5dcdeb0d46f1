import { GATEWAY_TOKEN, METRICS_TOKEN, RELEASE_TOKEN } from '../../config/settings/entries/environment.ts';
import {
  LOG_FORMAT,
  METRICS_HOST,
  METRICS_OPEN,
  METRICS_PORT,
} from '../../config/settings/entries/servers.ts';
import { type Flags, resolveSettings } from '../../config/settings/given.ts';
import { isToken, isLoopback } from '../../domain/access.ts';
import { Failure } from '../../domain/failure.ts';
import { escapeText } from '../../domain/text/escape-text.ts';
import type { CommandContext } from '../context.ts';

/**
 * The token that clients of the gateway must send, or null if none is set. Failure('usage') if other machines can reach
 * the address and there is no token.
 */
export function readGatewayToken(host: string, env: NodeJS.ProcessEnv): string | null {
  const { name } = GATEWAY_TOKEN;
  const token = env[name] || null;
  if (token !== null && !isToken(token)) {
    throw new Failure('usage', `${name} contains characters that are not valid in a token`);
  }
  if (token === null && !isLoopback(host)) {
    throw new Failure('usage', `--host ${escapeText(host)} can be reached from other machines: set ${name}`);
  }
  return token;
}

/**
 * The token for releasing restricted items, or null if they cannot be released. Failure('usage') if it equals the token
 * for everything else.
 */
export function readReleaseToken(env: NodeJS.ProcessEnv): string | null {
  const { name } = RELEASE_TOKEN;
  const token = env[name] || null;
  if (token !== null && !isToken(token)) {
    throw new Failure('usage', `${name} contains characters that are not valid in a token`);
  }
  if (token !== null && token === env[GATEWAY_TOKEN.name]) {
    throw new Failure('usage', `${name} must differ from ${GATEWAY_TOKEN.name}`);
  }
  return token;
}

/** The metrics listen address, and the token that every request must carry, or null if none is needed. */
interface MetricsPlace {
  readonly host: string;
  readonly port: number;
  readonly token: string | null;
}

/** Flags shared by worker, sink and scheduler. */
export const SERVICE_SETTINGS = {
  metricsPort: METRICS_PORT,
  metricsHost: METRICS_HOST,
  metricsOpen: METRICS_OPEN,
  logFormat: LOG_FORMAT,
};

/**
 * The metrics listen address; null if no port is named. Failure('usage') if other machines can reach the address,
 * unless GUARDSWEEP_METRICS_TOKEN or `--metrics-open` is set, and for `--metrics-open` together with a token.
 */
export async function resolveMetricsPlace(
  flags: Flags,
  { env, cwd }: Pick<CommandContext, 'env' | 'cwd'>,
): Promise<MetricsPlace | null> {
  const {
    metricsPort: port,
    metricsHost: host,
    metricsOpen,
  } = await resolveSettings(SERVICE_SETTINGS, { flags, env, cwd });
  if (port === null) return null;
  const variable = METRICS_TOKEN.name;
  const token = env[variable] || null;
  if (token !== null && !isToken(token)) {
    throw new Failure('usage', `${variable} contains characters that are not valid in a token`);
  }
  if (token !== null && metricsOpen) {
    throw new Failure('usage', `--metrics-open and ${variable} contradict each other: keep one of them`);
  }
  if (token === null && !metricsOpen && !isLoopback(host)) {
    throw new Failure(
      'usage',
      `--metrics-host ${escapeText(host)} can be reached from other machines: set ${variable}, ` +
        'or let anyone read the metrics with --metrics-open',
    );
  }
  return { host, port, token };
}
