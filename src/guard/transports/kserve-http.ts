import { HttpClient } from '../http/http-client.ts';
import { openGuard } from '../kserve/open-guard.ts';
import { KserveHttpCalls } from '../kserve-http/kserve-http-calls.ts';
import { type GuardEndpoint, type BaseAddress, parseBaseAddress } from '../protocol/address.ts';
import type { Connection, Credentials, OpenOptions, ReadyGuard } from '../protocol/connection.ts';
import type { Transport } from './transport.ts';

/** Max connections: each carries one request at a time. Further requests wait for one. */
const MAX_CONNECTIONS = 128;

/** Triton or another server, over the HTTP form of the KServe v2 protocol, which has no streams. */
export const KSERVE_HTTP: Transport = {
  kind: 'triton',
  schemes: ['kserve+http', 'kserve+https'],
  tokenVariable: 'GUARD_TOKEN',
  unversioned: null,
  takes: (requestKind) => requestKind !== 'generation',
  hostOf: parse,
  connector: (endpoint) => {
    const base = parse(endpoint);
    return (credentials) => new KserveHttpConnection(base, credentials);
  },
};

function parse(endpoint: GuardEndpoint): BaseAddress {
  return parseBaseAddress(endpoint, 'kserve+http://host:8000');
}

class KserveHttpConnection implements Connection {
  readonly #client: HttpClient;

  /** Does not connect before `open`. */
  constructor(base: BaseAddress, credentials: Credentials) {
    this.#client = new HttpClient(base, credentials, MAX_CONNECTIONS);
  }

  open(options: OpenOptions): Promise<ReadyGuard> {
    return openGuard(new KserveHttpCalls(this.#client), options);
  }

  close(): void {
    this.#client.close();
  }
}
