import { isIP } from 'node:net';
import type { GuardAddress } from '../protocol/address.ts';
import type { CallOptions } from '../protocol/connection.ts';
import { reachHost } from '../protocol/reach-host.ts';

/** An address that answers, and what a connection to it names the server. */
export interface Reached {
  /** A gRPC target: `host:port`. */
  readonly target: string;
  readonly channelOptions: Readonly<Record<string, string>>;
}

/**
 * Finds the address of a host that takes TCP connections, with one of its own. gRPC connects without a timeout, and its
 * client does not end an attempt when it is closed: one at an address that never answers would keep the process alive for
 * two minutes. So gRPC is told only of addresses that have just answered. Rejects with `CallError`, or with the signal's
 * reason.
 */
export async function reach(address: GuardAddress, options: CallOptions): Promise<Reached> {
  const { hostname, port } = new URL(`tcp://${address.target}`);
  const host = hostname.replace(/^\[|\]$/g, '');
  return reachedAt(address, host, await reachHost({ host, port: Number(port) }, options), port);
}

function reachedAt(address: GuardAddress, host: string, ip: string, port: string): Reached {
  const { target, authority, serverName } = address;
  if (authority === null && isIP(host) !== 0) return { target, channelOptions: {} };
  return {
    target: isIP(ip) === 6 ? `[${ip}]:${port}` : `${ip}:${port}`,
    channelOptions: {
      'grpc.default_authority': authority ?? target,
      'grpc.ssl_target_name_override': serverName,
    },
  };
}
