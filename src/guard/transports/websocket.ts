import { CallError } from '../protocol/call-error.ts';
import { HARMLESS_GENERATION } from '../protocol/canary.ts';
import type { Connection, Credentials, OpenOptions, ReadyGuard } from '../protocol/connection.ts';
import { NotUsable, notUsable } from '../protocol/not-usable.ts';
import { reachHost } from '../protocol/reach-host.ts';
import { GuardStreams } from '../streams/guard-streams.ts';
import type { RequestKind } from '../tensors/encode-request.ts';
import { type BaseAddress, type GuardEndpoint, parseBaseAddress } from '../protocol/address.ts';
import type { Transport } from './transport.ts';

/** Path of moderation streams below the base address. */
const STREAM_PATH = '/v1/moderations/response-stream';

/** A guard behind its WebSocket endpoint for moderation streams. Each stream has a connection of its own. */
export const WEB_SOCKET: Transport = {
  kind: 'websocket',
  schemes: ['ws', 'wss'],
  tokenVariable: 'GUARD_TOKEN',
  unversioned: 'a WebSocket',
  takes,
  hostOf: parse,
  connector: (endpoint) => {
    const address = parse(endpoint);
    return (credentials) => new WebSocketConnection(address, credentials);
  },
};

function takes(requestKind: RequestKind): boolean {
  return requestKind === 'generation';
}

function parse(endpoint: GuardEndpoint): BaseAddress {
  return parseBaseAddress(endpoint, 'ws://host:8000');
}

class WebSocketConnection implements Connection {
  readonly #address: BaseAddress;
  readonly #credentials: Credentials;

  constructor(address: BaseAddress, credentials: Credentials) {
    this.#address = address;
    this.#credentials = credentials;
  }

  /** There is no readiness check: the guard must judge a harmless generation. */
  async open({ requestTimeoutMs, prove, signal }: OpenOptions): Promise<ReadyGuard> {
    // Loaded only where a guard is behind a WebSocket.
    const { WebSocketStream } = await import('../websocket/websocket-stream.ts');
    const streams = new GuardStreams((events) => new WebSocketStream(this.#url, this.#credentials, events));
    try {
      const options = { timeoutMs: requestTimeoutMs, signal };
      const { answers } = await streams.replay(HARMLESS_GENERATION.request, options);
      if (answers?.[0] == null) {
        const detail = 'its verdict on a harmless text has no score';
        throw prove
          ? new NotUsable('fails on harmless text', false, detail)
          : new NotUsable('not a guard', true, detail);
      }
    } catch (error) {
      // A guard with too much to do is a guard.
      const isBusy =
        error instanceof CallError && (error.fault.kind === 'rate' || error.fault.kind === 'overload');
      if (!isBusy) throw notUsable(error, { signal });
    }
    return {
      maxBatchSize: 0,
      instances: null,
      concurrency: streams.concurrency,
      takes,
      // It need not answer anything but handshakes, each of which is a stream.
      isReady: async (options) => (await reachHost(this.#address, options)) !== '',
      judge: ([row], options) => {
        if (row?.request.requestType !== 'generation') throw new Error('not a request for a WebSocket');
        return streams.replay(row.request, options);
      },
      version: null,
      streams,
    };
  }

  /** For the handshake: `ws://host:8000/v1/moderations/response-stream`. */
  get #url(): string {
    const { host, port, secure, path } = this.#address;
    return `${secure ? 'wss' : 'ws'}://${host.includes(':') ? `[${host}]` : host}:${port}${path}${STREAM_PATH}`;
  }

  /** The callers have aborted their streams, and with them their connections. */
  close(): void {}
}
