import { connect } from 'node:net';
import { CallError } from './call-error.ts';
import type { CallOptions } from './connection.ts';

/** Timeout of a TCP connection, in milliseconds. */
const TIMEOUT_MS = 5000;

/**
 * Connects to a host and port over TCP, closes that connection at once, and resolves to the IP address that accepted
 * it. Rejects with `CallError`, or with the signal's reason.
 */
export function reachHost(
  { host, port }: { readonly host: string; readonly port: number },
  { timeoutMs, signal }: CallOptions,
): Promise<string> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason as Error);
      return;
    }
    const socket = connect({ host, port });
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
      const ip = socket.remoteAddress!;
      settle();
      resolve(ip);
    });
    // Never removed: a socket that is destroyed may still report an error.
    socket.on('error', () => fail(unreached()));
  });
}

function unreached(): CallError {
  return new CallError('no connection', { kind: 'endpoint', reason: 'no connection', reached: false });
}
