import { type GuardEndpoint, schemeOf } from '../protocol/address.ts';
import { GRPC } from './grpc.ts';
import { KSERVE_HTTP } from './kserve-http.ts';
import { OPENAI } from './openai.ts';
import { REST } from './rest.ts';
import type { Transport } from './transport.ts';
import { WEB_SOCKET } from './websocket.ts';

const TRANSPORTS: readonly Transport[] = [GRPC, KSERVE_HTTP, REST, OPENAI, WEB_SOCKET];

/** The transport for an address, by its scheme. Unknown schemes get gRPC, which rejects the address. */
export function transportOf({ address }: GuardEndpoint): Transport {
  const scheme = schemeOf(address);
  return TRANSPORTS.find(({ schemes }) => schemes.includes(scheme)) ?? GRPC;
}
