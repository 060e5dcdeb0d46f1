import { randomInt } from 'node:crypto';
import { isIP } from 'node:net';
import type { RedisOptions } from 'ioredis';
import type { RedisAddress } from '../../config/values/redis-url.ts';

type ConnectOptions = Omit<RedisOptions, 'replyMapping'>;

/**
 * A connection with a pending command and no traffic for this long is considered dead; in milliseconds. It exceeds the
 * longest blocking wait of a worker, 10 s.
 */
const SOCKET_TIMEOUT_MS = 15_000;
const CONNECT_TIMEOUT_MS = 10_000;
const MAX_BACKOFF_MS = 2000;

/** Options shared by all connections. Such a connection is opened explicitly and does not reconnect. */
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
 * Options of a permanent connection: it reconnects for as long as it takes, while commands wait. Half-open connections
 * are detected and replaced. It connects at once, as do its duplicates: with `lazyConnect`, BullMQ treats a failed
 * first attempt as final and never retries.
 */
export function lastingOptions(address: RedisAddress): ConnectOptions {
  return {
    ...connectOptions(address),
    lazyConnect: false,
    maxRetriesPerRequest: null,
    socketTimeout: SOCKET_TIMEOUT_MS,
    retryStrategy: (times) => Math.min(50 * 2 ** Math.min(times, 10), MAX_BACKOFF_MS) + randomInt(50),
    // After a failover the old primary still answers, but refuses writes.
    reconnectOnError: (error) => (error.message.startsWith('READONLY') ? 2 : false),
  };
}

/** SNI: tells a proxy which certificate to present. It does not exist for IP addresses. */
function serverName(host: string): { servername?: string } {
  return isIP(host) === 0 ? { servername: host } : {};
}
