/** What the server takes of everybody together, so that no number of callers can fill its memory. */
export interface NetworkLimits {
  /** Longest message, in bytes. */
  readonly messageBytes: number;
  /** Bytes of open calls, their headers and messages, over all connections. */
  readonly bytesInHand: number;
  readonly connections: number;
  /** Calls at a time on one connection; more wait at the client. */
  readonly callsOfConnection: number;
  /** How long a message may take to arrive, and a reply to be taken, in milliseconds. */
  readonly messageTimeoutMs: number;
  /** How long a new connection may go without a call that is let in, in milliseconds. */
  readonly firstCallMs: number;
  /** How long a connection without a call is kept, in milliseconds. */
  readonly idleMs: number;
}

/**
 * The longest honest message is an image or a clip of 64 MiB of base64 (contents.ts) with a caption; a half more leaves
 * room for one that is refused by name. Two of the longest messages fit at a time, and hundreds of ordinary ones.
 */
export const NETWORK_LIMITS: NetworkLimits = {
  messageBytes: 96 * 1024 * 1024,
  bytesInHand: 256 * 1024 * 1024,
  connections: 256,
  callsOfConnection: 1024,
  messageTimeoutMs: 60_000,
  firstCallMs: 10_000,
  idleMs: 5 * 60_000,
};
