import { OPENAI_API_KEY } from '../config/settings/entries/environment.ts';
import { isEmbedded } from '../config/values/guard-url.ts';
import { isToken } from '../domain/access.ts';
import { Failure } from '../domain/failure.ts';
import type { GuardEndpoint, GuardHost } from '../guard/protocol/address.ts';
import { transportOf } from '../guard/transports/transports.ts';

/**
 * Returns a function that looks up the bearer token for an endpoint; null if none is sent, as for the embedded guard.
 * `guards` are all configured URLs. `namedByUser` are those that the user named for this command with a flag, a job
 * file or the environment; default: all. The variable for one host ends in `__<HOST>`: the host in upper case, with `_`
 * for every character that is not a letter or digit. An empty variable means no token.
 * - gRPC, KServe over HTTP, and WebSockets: `GUARD_TOKEN__<HOST>` if that is set, otherwise `GUARD_TOKEN`.
 * - REST: `GUARD_API_KEY__<HOST>` if that is set, otherwise `GUARD_API_KEY` if only one https host has no key of its
 *   own. Plain http needs no key.
 * - OpenAI's own host over TLS: `OPENAI_API_KEY` if `GUARD_API_KEY__API_OPENAI_COM` is not set, with precedence over
 *   `GUARD_API_KEY`. No other host gets it.
 *
 * A token without a host is sent only to guards that the user named: a run directory may come from someone else, and
 * must not choose who receives it. The function throws Failure('usage') rather than send a token to another machine
 * without TLS, or to a host that it may not be meant for.
 */
export function guardToken(
  env: NodeJS.ProcessEnv,
  guards: readonly string[],
  namedByUser: readonly string[] = guards,
): (endpoint: GuardEndpoint) => string | null {
  return (endpoint) => {
    if (isEmbedded(endpoint.name)) return null;
    const found = hasApiKey(endpoint) ? apiKey(env, endpoint, guards) : guardTokenOf(env, endpoint);
    if (found !== null && !found.isOwn && !namedByUser.includes(endpoint.name))
      throw notNamed(found, endpoint);
    if (found !== null && !isToken(found.token)) {
      throw new Failure(
        'usage',
        `guard ${endpoint.name}: ${found.variable} contains characters that are not valid in a token`,
      );
    }
    return found?.token ?? null;
  };
}

interface TokenSetting {
  readonly token: string;
  readonly variable: string;
  /** Whether it is only for this host. */
  readonly isOwn: boolean;
}

function guardTokenOf(env: NodeJS.ProcessEnv, endpoint: GuardEndpoint): TokenSetting | null {
  const { host, secure, loopback } = hostOf(endpoint);
  const own = ownOf(env, 'GUARD_TOKEN', host);
  const found = own === undefined ? valueOf(env, 'GUARD_TOKEN') : own;
  if (found !== null && !secure && !loopback) throw withoutTls(endpoint, found.variable);
  return found;
}

function apiKey(
  env: NodeJS.ProcessEnv,
  endpoint: GuardEndpoint,
  guards: readonly string[],
): TokenSetting | null {
  const { host, secure, loopback } = hostOf(endpoint);
  const ofHost = ownOf(env, 'GUARD_API_KEY', host);
  const own = ofHost === undefined ? openAiKey(env, endpoint) : ofHost;
  if (own !== undefined) {
    if (own !== null && !secure && !loopback) throw withoutTls(endpoint, own.variable);
    return own;
  }
  const shared = secure ? valueOf(env, 'GUARD_API_KEY') : null;
  const others = guards
    .map((url) => ({ name: url, address: url }))
    .filter((guard) => hasApiKey(guard) && hostOf(guard).secure && openAiKey(env, guard) === undefined)
    .map((guard) => hostOf(guard).host)
    .filter((name) => name !== host && ownOf(env, 'GUARD_API_KEY', name) === undefined);
  if (shared !== null && others.length > 0) {
    throw new Failure(
      'usage',
      `guard ${endpoint.name}: GUARD_API_KEY is for one host; name the key of this one ` +
        variableOf('GUARD_API_KEY', host),
    );
  }
  return shared;
}

/** The key that other programs keep for OpenAI's own host; undefined for any other host, and when it is not set. */
function openAiKey(env: NodeJS.ProcessEnv, endpoint: GuardEndpoint): TokenSetting | undefined {
  const { host, secure } = hostOf(endpoint);
  const isOpenAi = transportOf(endpoint).kind === 'openai' && secure && host === 'api.openai.com';
  return isOpenAi ? (valueOf(env, OPENAI_API_KEY.name, true) ?? undefined) : undefined;
}

/** The token for this host only; null if it must get none, undefined if its variable is not set. */
function ownOf(env: NodeJS.ProcessEnv, prefix: string, host: string): TokenSetting | null | undefined {
  const variable = variableOf(prefix, host);
  return env[variable] === undefined ? undefined : valueOf(env, variable, true);
}

function valueOf(env: NodeJS.ProcessEnv, variable: string, isOwn = false): TokenSetting | null {
  const token = env[variable];
  return token === undefined || token === '' ? null : { token, variable, isOwn };
}

function notNamed({ variable }: TokenSetting, endpoint: GuardEndpoint): Failure {
  const { name } = endpoint;
  const { host } = hostOf(endpoint);
  return new Failure(
    'usage',
    `guard ${name}: only the run directory names it, so ${variable} is not sent to it; if it is the right one, ` +
      `set GUARD_URL to ${name}, or put its own token in ${variableOf(variable, host)} (empty: none)`,
  );
}

function withoutTls({ name, address }: GuardEndpoint, variable: string): Failure {
  return new Failure(
    'usage',
    `guard ${name}: ${variable} is not sent to another host without TLS; ` +
      `name it as ${address.replace(':', 's:')}, or unset ${variable}`,
  );
}

function hasApiKey(endpoint: GuardEndpoint): boolean {
  return transportOf(endpoint).tokenVariable === 'GUARD_API_KEY';
}

function hostOf(endpoint: GuardEndpoint): GuardHost {
  return transportOf(endpoint).hostOf(endpoint);
}

function variableOf(prefix: string, host: string): string {
  return `${prefix}__${host
    .replace(/^\[|\]$/g, '')
    .toUpperCase()
    .replace(/[^A-Z0-9]/g, '_')}`;
}
