import { type WithOrigin, usageError, quoteForMessage } from '../usage-error.ts';
import { REDIS_PREFIX } from '../settings/entries/environment.ts';

/** The address of the fleet's Redis. It contains the password and is never printed or stored. */
export interface RedisAddress {
  /** The URL as given, passed on to child processes through their environment. */
  readonly url: string;
  /** A TCP host and port, or the path of a Unix socket. */
  readonly at: { readonly host: string; readonly port: number } | { readonly path: string };
  readonly tls: boolean;
  readonly username: string | null;
  readonly password: string | null;
  readonly database: number;
  /** Prefix of every key. In braces, it is a hash tag, which makes a Redis cluster keep all keys on one node. */
  readonly prefix: string;
  /** The address without user, password and database, for messages. */
  readonly shown: string;
  /** Origin of the setting: `--redis` or `REDIS_URL`. */
  readonly place: string;
}

const DEFAULT_PORT = 6379;
const DEFAULT_PREFIX = 'guardsweep';
const FORMS = 'redis://host:6379, rediss://host:6379 (TLS) or unix:///path/to/socket';
/** Longest path that fits into the address of a Unix socket, in bytes. */
const MAX_SOCKET_PATH = 107;

/**
 * Parses the address of a Redis. User and password are in the URL (`redis://user:password@host`), the number of the
 * database after the host, or as `?db=` for a socket. `REDIS_PREFIX` sets the prefix of all keys. Failure('usage') never
 * repeats the URL, which may hold a secret.
 */
export function parseRedisUrl({ value, place }: WithOrigin<string>, env: NodeJS.ProcessEnv): RedisAddress {
  if (value.trim() === '') throw usageError(place, `expected ${FORMS}`);
  const prefix = env[REDIS_PREFIX.name] || DEFAULT_PREFIX;
  if (!/^[\w.-]{1,64}$/.test(prefix)) {
    throw usageError(
      REDIS_PREFIX.name,
      `expected letters, digits, dots and hyphens, found ${quoteForMessage(prefix)}`,
    );
  }
  return addressOf(value.trim(), place, `{${prefix}}`);
}

function addressOf(text: string, place: string, prefix: string): RedisAddress {
  let url: URL;
  let username: string;
  let password: string;
  let path: string;
  try {
    url = new URL(text);
    username = decodeURIComponent(url.username);
    password = decodeURIComponent(url.password);
    path = decodeURIComponent(url.pathname);
  } catch (error) {
    throw usageError(place, `expected ${FORMS}`, error);
  }
  const login = { url: text, username: username || null, password: password || null, prefix, place };
  switch (url.protocol) {
    case 'redis:':
    case 'rediss:': {
      if (url.hostname === '') throw usageError(place, `expected ${FORMS}`);
      const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
      const port = url.port === '' ? DEFAULT_PORT : Number(url.port);
      const database = databaseOf(url.pathname.replace(/^\//, ''), place);
      const shown = `${url.protocol}//${url.hostname}:${port}`;
      return { ...login, at: { host, port }, tls: url.protocol === 'rediss:', database, shown };
    }
    case 'unix:': {
      if (url.hostname !== '' || !path.startsWith('/') || path === '/') {
        throw usageError(place, 'a Unix socket is named by its absolute path: unix:///path/to/socket');
      }
      if (Buffer.byteLength(path) > MAX_SOCKET_PATH) {
        throw usageError(place, `the path of a Unix socket has at most ${MAX_SOCKET_PATH} bytes`);
      }
      const database = databaseOf(url.searchParams.get('db') ?? '', place);
      return { ...login, at: { path }, tls: false, database, shown: `unix://${path}` };
    }
    default:
      throw usageError(place, `expected ${FORMS}`);
  }
}

function databaseOf(text: string, place: string): number {
  if (text === '') return 0;
  if (!/^\d{1,5}$/.test(text)) throw usageError(place, 'the database is a number, as in redis://host:6379/0');
  return Number(text);
}
