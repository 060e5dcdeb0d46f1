/** Limits across all clients, so that no number of them can exhaust the server's memory. Times are in milliseconds. */
export interface NetworkLimits {
  /** Max bytes of a gRPC message. */
  readonly messageBytes: number;
  /** Max bytes of the body of an HTTP request, decompressed: as Triton's `--http-max-input-size` by default. */
  readonly bodyBytes: number;
  /** Max bytes of headers, messages and bodies of all open calls, over gRPC and HTTP together. */
  readonly callBytes: number;
  /** Max open connections per port. */
  readonly connections: number;
  /** Max concurrent gRPC calls per connection; further calls wait at the client. */
  readonly callsPerConnection: number;
  /** Timeout for a message or body to arrive, and for the client to read the reply. */
  readonly messageTimeoutMs: number;
  /** Timeout for the first admitted call of a new connection. */
  readonly firstCallMs: number;
  /** Timeout after which a connection without calls is closed. */
  readonly idleMs: number;
}

/**
 * The longest valid message is an image or a clip of 64 MiB of base64 (contents.ts) with a caption; half as much again
 * leaves room for longer ones that the contract refuses with a code. Two of the longest messages fit at the same time,
 * or hundreds of ordinary ones.
 */
export const NETWORK_LIMITS: NetworkLimits = {
  messageBytes: 96 * 1024 * 1024,
  bodyBytes: 64 * 1024 * 1024,
  callBytes: 256 * 1024 * 1024,
  connections: 256,
  callsPerConnection: 1024,
  messageTimeoutMs: 60_000,
  firstCallMs: 10_000,
  idleMs: 5 * 60_000,
};
