import { EMBEDDED_GUARD } from '../config/guard-url.ts';
import { type GuardEndpoint } from '../guard/address.ts';

/**
 * The bearer token to send to an endpoint: `GUARD_TOKEN` for every endpoint the user named, none for the embedded
 * guard. An empty variable counts as none.
 */
export function guardToken(env: NodeJS.ProcessEnv): (endpoint: GuardEndpoint) => string | null {
  const token = env['GUARD_TOKEN'] || null;
  return ({ name }) => (name === EMBEDDED_GUARD ? null : token);
}
