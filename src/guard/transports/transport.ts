import type { GuardPolicy } from '../../domain/guard/guard-family.ts';
import type { EndpointKind } from '../endpoint/endpoint-status.ts';
import type { GuardEndpoint, GuardHost } from '../protocol/address.ts';
import type { CallOptions, Connection, Credentials } from '../protocol/connection.ts';
import type { RequestKind } from '../tensors/encode-request.ts';

export interface ConnectOptions extends Credentials {
  /** What a model judges by that follows a written policy; null or left out: nothing. */
  readonly guardPolicy?: GuardPolicy | null;
}

/** Makes a new connection that shares nothing with earlier ones, and does not connect before it is opened. */
export type Connect = (options: ConnectOptions) => Connection;

/** One server at one address. */
export interface GuardServer {
  /** As recorded in outcomes. */
  readonly name: string;
  readonly connect: Connect;
}

/**
 * How guards are reached over one protocol. A connection judges, streams, reads versions and maps faults to `Fault`; pool,
 * endpoints and placement know no more of a transport than this.
 */
export interface Transport {
  readonly kind: EndpointKind;
  /** Of the URLs that name a guard, in lower case. */
  readonly schemes: readonly string[];
  /** The environment variable that holds the token or key for any host. */
  readonly tokenVariable: 'GUARD_TOKEN' | 'GUARD_API_KEY';
  /** What the transport is called in messages, if its guards do not report a version; else null. */
  readonly unversioned: string | null;
  /** Whether a guard may take such requests, as far as is known before it is asked. */
  readonly takes: (requestKind: RequestKind) => boolean;
  /** Failure('usage') when the address is malformed. */
  readonly hostOf: (endpoint: GuardEndpoint) => GuardHost;
  /** To whichever server answers at the address. Failure('usage') when it is malformed. */
  readonly connector: (endpoint: GuardEndpoint) => Connect;
  /**
   * The servers behind a name. Left out: always one, since the name may be that of a load balancer with any number of
   * addresses. Rejects with Failure('usage') when the address is malformed.
   */
  readonly servers?: (endpoint: GuardEndpoint, lookup: CallOptions) => Promise<readonly GuardServer[]>;
}
