import { status } from '@grpc/grpc-js';
import { connectionFault } from '../http/connection-fault.ts';
import { CallError, type Fault } from '../protocol/call-error.ts';
import { type StatusName, statusOfCloseCode } from '../tensors/stream/stream-status.ts';
import { classify } from '../triton/grpc-fault.ts';

const INVALID_REPLY: Fault = { kind: 'refused', code: 'INVALID_REPLY', named: false };
const UNAVAILABLE: Fault = { kind: 'attempt', code: 'GUARD_UNAVAILABLE' };
const CONNECTION_LOST: Fault = { kind: 'endpoint', reason: 'connection lost', reached: true };

/** Close codes of RFC 6455 and the IANA registry, by their meaning for the stream. */
const CLOSED: ReadonlyMap<number, Fault> = new Map([
  [1001, { kind: 'endpoint', reason: 'shutting down', reached: true }],
  // The server found our messages wrong: protocol error, type of data, not UTF-8, policy, a missing extension.
  ...[1002, 1003, 1007, 1008, 1010].map((code): [number, Fault] => [
    code,
    { kind: 'refused', code: 'GUARD_REJECTED', named: false },
  ]),
  [1005, INVALID_REPLY],
  [1009, { kind: 'too-large' }],
  [1011, { kind: 'attempt', code: 'GUARD_INTERNAL' }],
  [1012, UNAVAILABLE],
  [1013, { kind: 'overload' }],
  [1014, UNAVAILABLE],
]);

/** The server ended the stream with an error message. `text` is not used anywhere else. */
export function streamFailed(name: StatusName, text: string): CallError {
  return new CallError(`status ${name}`, classify(status[name], text));
}

/** The server closed the socket with another code than 1000, and without an error message. */
export function socketClosed(code: number): CallError {
  const name = statusOfCloseCode(code);
  if (name !== null) return streamFailed(name, '');
  return new CallError(`close code ${code}`, CLOSED.get(code) ?? CONNECTION_LOST);
}

/** The socket failed, or was never opened. The original error is not kept: its text could quote the server. */
export function socketFailed(error: Error): CallError {
  const code = 'code' in error ? String(error.code) : '';
  // `ws` received a frame that is too long, or none that it can read.
  if (code.startsWith('WS_ERR_')) return new CallError('unreadable message', INVALID_REPLY);
  if (/handshake has timed out/i.test(error.message)) {
    return new CallError('no answer in time', { kind: 'attempt', code: 'TIMEOUT' });
  }
  // Of the reply to the handshake: a server that does not speak the protocol.
  if (code === '') return new CallError('no WebSocket', INVALID_REPLY);
  return new CallError('the connection failed', connectionFault(code));
}
