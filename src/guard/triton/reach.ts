import { connect, isIP } from 'node:net';
import type { GuardAddress } from '../protocol/address.ts';
import { CallError } from '../protocol/call-error.ts';
import type { CallOptions } from '../protocol/connection.ts';

/** Timeout of a TCP connection, in milliseconds. */
const TIMEOUT_MS = 5000;

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
export function reach(address: GuardAddress, { timeoutMs, signal }: CallOptions): Promise<Reached> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason as Error);
      return;
    }
    const { hostname, port } = new URL(`tcp://${address.target}`);
    const host = hostname.replace(/^\[|\]$/g, '');
    const socket = connect({ host, port: Number(port) });
    const settle = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      socket.destroy();
    };
    const fail = (error: Error): void => {
      settle();
      reject(error);
    };
    const abort = (): void => fail(signal.reason as Error);
    const timer = setTimeout(() => fail(unreached()), Math.min(timeoutMs, TIMEOUT_MS));
    signal.addEventListener('abort', abort, { once: true });
    socket.once('connect', () => {
      const found = reachedAt(address, host, socket.remoteAddress!, port);
      settle();
      resolve(found);
    });
    // Stays for good: a socket that is destroyed may still report why.
    socket.on('error', () => fail(unreached()));
  });
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

function unreached(): CallError {
  return new CallError('no connection', { kind: 'endpoint', reason: 'no connection', reached: false });
}
