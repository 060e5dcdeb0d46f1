import { randomInt } from 'node:crypto';
import { isIP } from 'node:net';
import type { RedisOptions } from 'ioredis';
import type { RedisAddress } from '../../config/values/redis-url.ts';

type ConnectOptions = Omit<RedisOptions, 'replyMapping'>;

/**
 * A connection that carries no bytes for so long, with a command unanswered, is taken for dead; in milliseconds.
 * It is above the longest blocking wait of a worker, 10 s.
 */
const SOCKET_TIMEOUT_MS = 15_000;
const CONNECT_TIMEOUT_MS = 10_000;
const MAX_BACKOFF_MS = 2000;

/** What every connection shares; it makes one attempt when it is told to, and gives up at once. */
export function connectOptions(address: RedisAddress): ConnectOptions {
  return {
    ...('path' in address.at ? { path: address.at.path } : { host: address.at.host, port: address.at.port }),
    ...(address.tls ? { tls: 'host' in address.at ? serverName(address.at.host) : {} } : {}),
    ...(address.username === null ? {} : { username: address.username }),
    ...(address.password === null ? {} : { password: address.password }),
    db: address.database,
    lazyConnect: true,
    connectTimeout: CONNECT_TIMEOUT_MS,
    retryStrategy: () => null,
  };
}

/**
 * The options of a connection that is kept: it comes by itself, and back, for as long as it takes, and what was asked
 * of Redis meanwhile waits. Half-open connections are found and renewed. It begins at once, as do its duplicates: of
 * one that waits to be told, BullMQ takes a first attempt that fails for the end, and never asks again.
 */
export function lastingOptions(address: RedisAddress): ConnectOptions {
  return {
    ...connectOptions(address),
    lazyConnect: false,
    maxRetriesPerRequest: null,
    socketTimeout: SOCKET_TIMEOUT_MS,
    retryStrategy: (times) => Math.min(50 * 2 ** Math.min(times, 10), MAX_BACKOFF_MS) + randomInt(50),
    // After a failover the old primary still answers, but takes nothing.
    reconnectOnError: (error) => (error.message.startsWith('READONLY') ? 2 : false),
  };
}

/** By a name, a server behind several knows which certificate to show; TLS has no such thing for an IP address. */
function serverName(host: string): { servername?: string } {
  return isIP(host) === 0 ? { servername: host } : {};
}
