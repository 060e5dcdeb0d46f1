import { EMBEDDED_GUARD } from '../config/guard-url.ts';
import { Failure } from '../domain/failure.ts';
import { type GuardEndpoint, parseAddress } from '../guard/address.ts';

/**
 * The bearer token to send to an endpoint: `GUARD_TOKEN__<HOST>` where that is set (host in upper case, every
 * character but letters and digits as `_`), else `GUARD_TOKEN`; an empty variable is none, and the embedded guard gets none.
 * The function throws Failure('usage') rather than let a token leave this machine without TLS.
 */
export function guardToken(env: NodeJS.ProcessEnv): (endpoint: GuardEndpoint) => string | null {
  return (endpoint) => {
    if (endpoint.name === EMBEDDED_GUARD) return null;
    const { serverName, secure, loopback } = parseAddress(endpoint);
    const own = variableOf(serverName);
    const variable = env[own] === undefined ? 'GUARD_TOKEN' : own;
    const token = env[variable] || null;
    if (token !== null && !secure && !loopback) {
      throw new Failure(
        'usage',
        `guard ${endpoint.name}: ${variable} is not sent to another host without TLS; ` +
          `name it as ${endpoint.address.replace(/^grpc:/, 'grpcs:')}, or unset ${variable}`,
      );
    }
    return token;
  };
}

function variableOf(host: string): string {
  return `GUARD_TOKEN__${host
    .replace(/^\[|\]$/g, '')
    .toUpperCase()
    .replace(/[^A-Z0-9]/g, '_')}`;
}
