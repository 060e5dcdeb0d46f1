import type { BaseAddress } from '../http/base-address.ts';
import { HttpClient } from '../http/http-client.ts';
import { openGuard } from '../kserve/open-guard.ts';
import type { Connection, Credentials, OpenOptions, ReadyGuard } from '../protocol/connection.ts';
import { KserveHttpCalls } from './kserve-http-calls.ts';

/** Max connections: each carries one request at a time. Further requests wait for one. */
const MAX_CONNECTIONS = 128;

/** The client of a KServe server over HTTP. */
export function kserveHttpClient(base: BaseAddress, credentials: Credentials): HttpClient {
  return new HttpClient(base, credentials, MAX_CONNECTIONS);
}

/** A guard behind Triton or another server, over the HTTP form of the KServe v2 protocol. */
export class KserveHttpConnection implements Connection {
  readonly #client: HttpClient;

  /** Does not connect before `open`. */
  constructor(base: BaseAddress, credentials: Credentials) {
    this.#client = kserveHttpClient(base, credentials);
  }

  open(options: OpenOptions): Promise<ReadyGuard> {
    return openGuard(new KserveHttpCalls(this.#client), options);
  }

  close(): void {
    this.#client.close();
  }
}
