import type { GuardPolicy } from '../../domain/guard/guard-family.ts';
import type { EndpointKind } from '../endpoint/endpoint-status.ts';
import { HttpClient } from '../http/http-client.ts';
import type { BaseAddress, GuardEndpoint, GuardHost } from '../protocol/address.ts';
import type {
  CallOptions,
  Connection,
  Credentials,
  OpenOptions,
  ReadyGuard,
} from '../protocol/connection.ts';
import type { RequestKind } from '../tensors/encode-request.ts';

export interface ConnectOptions extends Credentials {
  /** Written policy for a model of the family `policy`. */
  readonly guardPolicy?: GuardPolicy | null;
}

/** Creates a connection that shares nothing with earlier ones, and does not connect before it is opened. */
export type Connect = (options: ConnectOptions) => Connection;

/** One server at one address. */
export interface GuardServer {
  /** Name of the endpoint in outcomes. */
  readonly name: string;
  readonly connect: Connect;
}

/**
 * How guards are reached over one protocol. A connection judges, streams, reads versions and maps faults to `Fault`;
 * pool, endpoints and placement know nothing else about a transport.
 */
export interface Transport {
  readonly kind: EndpointKind;
  /** Schemes of URLs that name a guard, in lower case. */
  readonly schemes: readonly string[];
  /** The environment variable that holds the token or key for any host. */
  readonly tokenVariable: 'GUARD_TOKEN' | 'GUARD_API_KEY';
  /** Name of the transport in messages, if its guards do not report a version; else null. */
  readonly unversioned: string | null;
  /** Whether a guard may take such requests, before it is asked. */
  readonly takes: (requestKind: RequestKind) => boolean;
  /** Parses the host. Failure('usage') when the address is malformed. */
  readonly hostOf: (endpoint: GuardEndpoint) => GuardHost;
  /** Connects to whichever server answers at the address. Failure('usage') when it is malformed. */
  readonly connector: (endpoint: GuardEndpoint) => Connect;
  /**
   * The servers behind a name. Omitted if that is always one, since the name may belong to a load balancer with any
   * number of addresses. Rejects with Failure('usage') when the address is malformed.
   */
  readonly servers?: (endpoint: GuardEndpoint, lookup: CallOptions) => Promise<readonly GuardServer[]>;
}

/** Connects over HTTP, and passes its client to `open`. */
export function connectHttp(
  base: BaseAddress,
  maxConnections: number,
  open: (client: HttpClient, options: OpenOptions, connect: ConnectOptions) => Promise<ReadyGuard>,
): Connect {
  return (connect) => {
    const client = new HttpClient(base, connect, maxConnections);
    return { open: (options) => open(client, options, connect), close: () => client.close() };
  };
}
