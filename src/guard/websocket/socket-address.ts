import { Failure } from '../../domain/failure.ts';
import { parseBaseAddress, type BaseAddress } from '../http/base-address.ts';
import type { GuardEndpoint } from '../protocol/address.ts';

/** Path of moderation streams below the base address. */
const STREAM_PATH = '/v1/moderations/response-stream';

/** Where a guard serves moderation streams over WebSockets. */
export interface SocketAddress extends BaseAddress {
  /** For the handshake: `ws://host:8000/v1/moderations/response-stream`. */
  readonly url: string;
}

/** Parses the address of a WebSocket endpoint. Failure('usage') unless it is a ws:// or wss:// URL without user or query. */
export function parseSocketAddress({ name, address }: GuardEndpoint): SocketAddress {
  if (!/^wss?:/i.test(address)) {
    throw new Failure('usage', `guard ${name}: the address must look like ws://host:8000`);
  }
  // The two schemes share their syntax and default ports with those of HTTP.
  const base = parseBaseAddress({ name, address: address.replace(/^ws/i, 'http') });
  const host = base.host.includes(':') ? `[${base.host}]` : base.host;
  return {
    ...base,
    url: `${base.secure ? 'wss' : 'ws'}://${host}:${base.port}${base.path}${STREAM_PATH}`,
  };
}
