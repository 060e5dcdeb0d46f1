import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { Failure } from '../../domain/failure.ts';
import { isLoopback } from '../../domain/access.ts';
import type { GuardEndpoint } from '../protocol/address.ts';
import type { CallOptions } from '../protocol/connection.ts';
import { reachHost } from '../protocol/reach-host.ts';

/** Target of a gRPC connection, and the name to verify. */
export interface GuardAddress {
  /** A gRPC target: `host:port`. */
  readonly target: string;
  readonly secure: boolean;
  readonly loopback: boolean;
  /** `host:port` as configured if the target is one of that host's addresses, otherwise null. Sent as :authority. */
  readonly authority: string | null;
  /** The host name that the certificate must match. */
  readonly serverName: string;
}

/** One server at one address. */
interface GuardTarget {
  readonly name: string;
  readonly address: GuardAddress;
}

const DEFAULT_PORT = '8001';

export type Lookup = (host: string) => Promise<readonly LookupAddress[]>;

async function lookupAll(host: string): Promise<LookupAddress[]> {
  return lookup(host, { all: true });
}

/** Parses an endpoint's address. Failure('usage') when it is not a grpc:// or grpcs:// URL of a host and port. */
export function parseAddress(endpoint: GuardEndpoint): GuardAddress & { readonly port: string } {
  let url: URL | null = null;
  try {
    url = new URL(endpoint.address);
  } catch {
    // reported below
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

/**
 * Expands a host name with several addresses into one endpoint per address, named `<name>#<address>`. Only addresses of
 * one family count, since a server that listens on both families is still one server; for the same reason `localhost`
 * is not expanded. A name whose lookup fails or takes longer than `timeoutMs` is not expanded, and is looked up again
 * when connecting. The addresses are kept for the life of the pool. Rejects with the signal's reason when aborted.
 */
export async function expandEndpoint(
  endpoint: GuardEndpoint,
  { timeoutMs, signal }: CallOptions,
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

/**
 * Looks up the addresses; null on an error or timeout. A system lookup cannot be cancelled, so a late result is
 * ignored.
 */
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

/** An address that answers, and the server name and options for a connection to it. */
export interface Reached {
  /** A gRPC target: `host:port`. */
  readonly target: string;
  readonly channelOptions: Readonly<Record<string, string>>;
}

/**
 * Finds an address of a host that accepts TCP connections, by connecting to it. gRPC connects without a timeout, and
 * closing its client does not end a pending attempt, which at an address that never answers would keep the process
 * alive for two minutes. So gRPC is only given addresses that have just answered. Rejects with `CallError`, or with the
 * signal's reason.
 */
export async function reach(address: GuardAddress, options: CallOptions): Promise<Reached> {
  const { target, authority, serverName } = address;
  const { hostname, port } = new URL(`tcp://${target}`);
  const host = hostname.replace(/^\[|\]$/g, '');
  const ip = await reachHost({ host, port: Number(port) }, options);
  if (authority === null && isIP(host) !== 0) return { target, channelOptions: {} };
  return {
    target: isIP(ip) === 6 ? `[${ip}]:${port}` : `${ip}:${port}`,
    channelOptions: {
      'grpc.default_authority': authority ?? target,
      'grpc.ssl_target_name_override': serverName,
    },
  };
}
