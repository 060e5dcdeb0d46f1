import { mistake, quoted, type Located } from './mistake.ts';

/** The demonstration guard that a run starts itself. */
export const EMBEDDED_GUARD = 'embedded:';

/** Where Triton listens for gRPC unless told otherwise. */
const DEFAULT_GRPC_PORT = 8001;

const SECRETS_HINT = 'must not hold a user, password, query or fragment; secrets come from the environment';

/**
 * A guard endpoint in the form that records use: `embedded:`, or scheme, lower-case host and port
 * (`grpc://gpu-1:8001`, the port being 8001 when none is given). Failure('usage') for anything else. A URL that may
 * hold a secret is never repeated in the message.
 */
export function parseGuardUrl({ value, place }: Located<string>): string {
  const text = value.trim();
  if (/[@?#]/.test(text)) throw mistake(place, `a guard URL ${SECRETS_HINT}`);
  if (text === EMBEDDED_GUARD) return text;
  const [, scheme = '', rest = ''] = /^([a-z][a-z0-9+.-]*):(.*)$/is.exec(text) ?? [];
  switch (scheme.toLowerCase()) {
    case 'grpc':
    case 'grpcs':
      return `${scheme.toLowerCase()}://${parseAuthority(rest, { value: text, place })}`;
    case 'http':
    case 'https':
      throw mistake(
        place,
        `REST guards are not supported in this version; name the gRPC port, grpc://host:8001`,
      );
    default:
      throw mistake(
        place,
        /^embedded\b/i.test(text)
          ? `the embedded guard is written ${EMBEDDED_GUARD} and nothing after it`
          : `expected grpc://host:8001, grpcs://host:8001 or ${EMBEDDED_GUARD}, found ${quoted(text)}`,
      );
  }
}

function parseAuthority(rest: string, given: Located<string>): string {
  const match = /^\/\/(\[[0-9a-f:.]+\]|[a-z0-9](?:[a-z0-9._-]*[a-z0-9.])?)(?::(\d{1,5}))?\/?$/i.exec(rest);
  const port = Number(match?.[2] ?? DEFAULT_GRPC_PORT);
  if (match === null || port < 1 || port > 65_535) {
    throw mistake(given.place, `expected a host and a port of 1 to 65535, found ${quoted(given.value)}`);
  }
  return `${match[1]!.toLowerCase()}:${port}`;
}

/** Several endpoints in the order given. Failure('usage') also when one is named twice. */
export function parseGuardUrls(given: readonly Located<string>[]): string[] {
  const urls: string[] = [];
  for (const located of given) {
    const url = parseGuardUrl(located);
    if (urls.includes(url)) throw mistake(located.place, `${url} is named twice`);
    urls.push(url);
  }
  return urls;
}

/** The endpoints in `GUARD_URL`, separated by commas or white space; null when it is not set. */
export function guardUrlsOf(env: NodeJS.ProcessEnv): Located<string>[] | null {
  const urls = (env['GUARD_URL'] ?? '').split(/[\s,]+/).filter((url) => url !== '');
  return urls.length === 0 ? null : urls.map((value) => ({ value, place: 'GUARD_URL' }));
}
