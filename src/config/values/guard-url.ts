import { GUARD_FAMILIES, isGuardFamily } from '../../domain/guard/guard-family.ts';
import { type WithOrigin, usageError, quoteForMessage } from '../usage-error.ts';

/** The demonstration guard that a run starts itself. */
export const EMBEDDED_GUARD = 'embedded:';
/** The embedded guard, returning the scores of all categories for all content. */
export const EMBEDDED_ALL_SCORES = 'embedded:all-scores';

/** Whether a guard is the demonstration guard. */
export function isEmbedded(url: string): boolean {
  return url === EMBEDDED_GUARD || url === EMBEDDED_ALL_SCORES;
}

/** Default ports of guards: Triton, the reference client for REST, any host for HTTPS. */
const DEFAULT_PORTS = {
  grpc: 8001,
  grpcs: 8001,
  http: 9000,
  https: 443,
  'kserve+http': 8000,
  'kserve+https': 443,
  'openai+http': 8000,
  'openai+https': 443,
  ws: 8000,
  wss: 8000,
} as const;

type Scheme = keyof typeof DEFAULT_PORTS;

/** Model names as written by model hubs, folders and Ollama. */
const MODEL = /^[a-z0-9/][\w.:/-]{0,199}$/i;

const SECRETS_HINT_SHORT = 'secrets come from the environment';
const SECRETS_HINT = 'must not hold a user, password, query or fragment; secrets come from the environment';

/**
 * Parses a guard endpoint to the form used in records:
 *
 * - `embedded:` or `embedded:all-scores`
 * - gRPC: scheme, lower-case host and port, `grpc://gpu-1:8001` (default port 8001)
 * - REST: base address before `/v1`, `http://gpu-1:9000` (default port 9000), or `https://guard.example`, with its
 *   port unless that is 443 and its path if it has one
 * - KServe v2 over HTTP: base address before `/v2`, in the same way, `kserve+http://gpu-1:8000`,
 *   `kserve+https://guard.example`
 * - WebSocket, for generations only: `ws://gpu-1:8000` or `wss://` (default port 8000)
 * - OpenAI-compatible server: base address before `/v1`, with the model and its family where needed,
 *   `openai+http://gpu-1:8000?model=meta-llama/Llama-Guard-3-8B&family=llama-guard`
 *
 * Failure('usage') for anything else. The message never repeats a URL that may hold a secret.
 */
function parseGuardUrl({ value, place }: WithOrigin<string>): string {
  const text = value.trim();
  const isOpenAi = /^openai\+/i.test(text);
  if (isOpenAi ? /[@#]|\?.*\?/.test(text) : /[@?#]/.test(text))
    throw usageError(place, `a guard URL ${SECRETS_HINT}`);
  if (isEmbedded(text)) return text;
  if (isOpenAi) return parseOpenAi({ value: text, place });
  const [, given = '', rest = ''] = /^([a-z][a-z0-9+.-]*):(.*)$/is.exec(text) ?? [];
  const scheme = given.toLowerCase();
  if (isScheme(scheme)) return parseLocation(scheme, rest, { value: text, place });
  throw usageError(
    place,
    /^embedded\b/i.test(text)
      ? `the embedded guard is written ${EMBEDDED_GUARD} or ${EMBEDDED_ALL_SCORES}`
      : `expected grpc://host:8001, grpcs://host:8001, https://host, http://host:9000, kserve+http[s]://host:8000, openai+http[s]://host:8000, ws[s]://host:8000 or ${EMBEDDED_GUARD}, found ${quoteForMessage(text)}`,
  );
}

/** Parses `model`, as servers write it, and `family`: the only keys, in this order. */
function parseOpenAi({ value, place }: WithOrigin<string>): string {
  const [location = '', query = ''] = value.split('?');
  const [, given = '', rest = ''] = /^([a-z+]*):(.*)$/is.exec(location) ?? [];
  const scheme = given.toLowerCase();
  if (!isScheme(scheme))
    throw usageError(place, `expected openai+http:// or openai+https://, found ${quoteForMessage(value)}`);
  const keys = new URLSearchParams(query);
  const unknown = [...keys.keys()].find((key) => key !== 'model' && key !== 'family');
  if (unknown !== undefined) {
    throw usageError(
      place,
      `the address of this guard takes model and family only, and ${SECRETS_HINT_SHORT}`,
    );
  }
  const model = keys.get('model');
  if (model !== null && !MODEL.test(model))
    throw usageError(
      place,
      `expected model= and the name of a served model, found ${quoteForMessage(model)}`,
    );
  const family = keys.get('family');
  if (family !== null && !isGuardFamily(family))
    throw usageError(
      place,
      `expected family= and one of ${GUARD_FAMILIES.join(', ')}, found ${quoteForMessage(family)}`,
    );
  const parts = [model && `model=${model}`, family && `family=${family}`].filter(Boolean);
  const base = parseLocation(scheme, rest, { value: location, place });
  return parts.length === 0 ? base : `${base}?${parts.join('&')}`;
}

function isScheme(scheme: string): scheme is Scheme {
  return Object.hasOwn(DEFAULT_PORTS, scheme);
}

function parseLocation(scheme: Scheme, rest: string, given: WithOrigin<string>): string {
  const match =
    /^\/\/(\[[0-9a-f:.]+\]|[a-z0-9](?:[a-z0-9._-]*[a-z0-9.])?)(?::(\d{1,5}))?((?:\/[a-z0-9._~-]+)*)\/?$/i.exec(
      rest,
    );
  const port = Number(match?.[2] ?? DEFAULT_PORTS[scheme]);
  const [, host = '', , path = ''] = match ?? [];
  const mayHavePath = scheme !== 'grpc' && scheme !== 'grpcs';
  if (match === null || port < 1 || port > 65_535 || (path !== '' && !mayHavePath)) {
    throw usageError(
      given.place,
      `expected a host and a port from 1 to 65535, found ${quoteForMessage(given.value)}`,
    );
  }
  if (/\/v[12](\/|$)|\/\.\.?(\/|$)/.test(path)) {
    throw usageError(
      given.place,
      `name the base address of the guard, before /v1 or /v2, found ${quoteForMessage(given.value)}`,
    );
  }
  return `${scheme}://${host.toLowerCase()}${scheme.endsWith('https') && port === 443 ? '' : `:${port}`}${path}`;
}

/** Whether connections to this guard use TLS. */
export function overTls(url: string): boolean {
  return /^(grpcs|((kserve|openai)\+)?https|wss):/.test(url);
}

/** Parses several endpoints, in the order given. Failure('usage') also if one is named twice. */
export function parseGuardUrls(given: readonly WithOrigin<string>[]): string[] {
  const urls: string[] = [];
  for (const located of given) {
    const url = parseGuardUrl(located);
    if (urls.includes(url)) throw usageError(located.place, `${url} is named twice`);
    urls.push(url);
  }
  return urls;
}
