import { GATEWAY_TOKEN } from '../../config/settings/entries/environment.ts';
import { isToken } from '../../domain/bearer-token.ts';
import { Failure } from '../../domain/failure.ts';
import { isLoopback } from '../../domain/loopback.ts';
import { shown } from '../../domain/text/shown.ts';

/**
 * The token that clients of the gateway must send; null: none. Failure('usage') for an address that other machines can
 * reach without a token.
 */
export function gatewayTokenOf(host: string, env: NodeJS.ProcessEnv): string | null {
  const { name } = GATEWAY_TOKEN;
  const token = env[name] || null;
  if (token !== null && !isToken(token)) {
    throw new Failure('usage', `${name} contains characters that are not valid in a token`);
  }
  if (token === null && !isLoopback(host)) {
    throw new Failure('usage', `--host ${shown(host)} can be reached from other machines: set ${name}`);
  }
  return token;
}
