import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { Failure } from '../../domain/failure.ts';
import { isLoopback } from '../../domain/loopback.ts';

/** A guard the run may use. */
export interface GuardEndpoint {
  /** As recorded: `embedded:`, `grpc://host:8001`, `https://host`. */
  readonly name: string;
  /**
   * Where it is: `grpc://host:port` or `grpcs://host:port`, port 8001 when left out; or the base address of its REST
   * endpoints, `http://host:port` or `https://host`.
   */
  readonly address: string;
}

/** Whether an endpoint is reached over REST. */
export function isRest({ address }: GuardEndpoint): boolean {
  return /^https?:/i.test(address);
}

/** Where to connect over gRPC, and as whom. */
export interface GuardAddress {
  /** A gRPC target: `host:port`. */
  readonly target: string;
  readonly secure: boolean;
  readonly loopback: boolean;
  /** `host:port` as configured, where the target is one of the addresses of that host; else null. */
  readonly authority: string | null;
  /** The host the certificate must be for. */
  readonly serverName: string;
}

/** One server at one address. */
export interface GuardTarget {
  readonly name: string;
  readonly address: GuardAddress;
}

const DEFAULT_PORT = '8001';

export type Lookup = (host: string) => Promise<readonly LookupAddress[]>;

async function lookupAll(host: string): Promise<LookupAddress[]> {
  return lookup(host, { all: true });
}

/** Reads an endpoint's address. Failure('usage') when it is not a grpc:// or grpcs:// URL of a host and port. */
export function parseAddress(endpoint: GuardEndpoint): GuardAddress & { readonly port: string } {
  let url: URL | null = null;
  try {
    url = new URL(endpoint.address);
  } catch {
    // said below
  }
  const bare = url !== null && ['', '/'].includes(url.pathname) && url.search === '' && url.hash === '';
  if (!bare || !['grpc:', 'grpcs:'].includes(url!.protocol) || url!.hostname === '') {
    throw new Failure('usage', `guard ${endpoint.name}: the address must look like grpc://host:8001`);
  }
  const host = url!.hostname;
  const port = url!.port === '' ? DEFAULT_PORT : url!.port;
  return {
    target: `${host}:${port}`,
    secure: url!.protocol === 'grpcs:',
    loopback: isLoopback(host),
    authority: null,
    serverName: host,
    port,
  };
}

export interface LookupOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/**
 * A name with several addresses stands for several servers: each becomes an endpoint of its own, named
 * `<name>#<address>`. Addresses are of one family, since a server that listens on both is still one server; for
 * the same reason `localhost` is never expanded. A name that cannot be looked up, or not within `timeoutMs`, stays
 * as it is, to be tried again when connecting. The addresses hold for as long as the pool lives. Rejects with the
 * signal's reason when aborted.
 */
export async function expandEndpoint(
  endpoint: GuardEndpoint,
  { timeoutMs, signal }: LookupOptions,
  find: Lookup = lookupAll,
): Promise<GuardTarget[]> {
  const { port, ...address } = parseAddress(endpoint);
  const host = address.serverName;
  const alone = [{ name: endpoint.name, address }];
  if (address.loopback || isIP(host.replace(/^\[|\]$/g, '')) !== 0) return alone;
  const found = await findWithin(timeoutMs, signal, () => find(host));
  if (found === null) return alone;
  const family = found.some((entry) => entry.family === 4) ? 4 : 6;
  const addresses = [...new Set(found.filter((e) => e.family === family).map((e) => e.address))].sort();
  if (addresses.length < 2) return alone;
  return addresses.map((ip) => ({
    name: `${endpoint.name}#${ip}`,
    address: {
      ...address,
      target: family === 4 ? `${ip}:${port}` : `[${ip}]:${port}`,
      authority: `${host}:${port}`,
    },
  }));
}

/** What is found in time, or null. The system's lookup cannot be ended: it is left to end by itself. */
async function findWithin(
  timeoutMs: number,
  signal: AbortSignal,
  find: () => ReturnType<Lookup>,
): Promise<readonly LookupAddress[] | null> {
  let timer: NodeJS.Timeout | undefined;
  let abort = (): void => {};
  try {
    return await new Promise((resolve, reject) => {
      abort = (): void => reject(signal.reason as Error);
      signal.addEventListener('abort', abort, { once: true });
      timer = setTimeout(() => resolve(null), timeoutMs);
      find().then(resolve, () => resolve(null));
    });
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}
