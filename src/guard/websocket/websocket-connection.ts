import { CallError } from '../protocol/call-error.ts';
import { HARMLESS_GENERATION } from '../protocol/canary.ts';
import type { Connection, Credentials, OpenOptions, ReadyGuard } from '../protocol/connection.ts';
import { NotUsable, notUsable } from '../protocol/not-usable.ts';
import { reachHost } from '../protocol/reach-host.ts';
import { GuardStreams } from '../streams/guard-streams.ts';
import { polledAhead } from '../streams/send-ahead.ts';
import type { Signature } from '../tensors/encode-request.ts';
import type { SocketAddress } from './socket-address.ts';
import { WebSocketStream } from './websocket-stream.ts';

/** Whether a guard over WebSockets takes such requests. */
export function takenOverWebSocket(signature: Signature): boolean {
  return signature === 'generation';
}

/** A guard behind its WebSocket endpoint for moderation streams. Each stream has a connection of its own. */
export class WebSocketConnection implements Connection {
  readonly #address: SocketAddress;
  readonly #credentials: Credentials;

  constructor(address: SocketAddress, credentials: Credentials) {
    this.#address = address;
    this.#credentials = credentials;
  }

  /** There is no readiness check: the guard must judge a harmless generation. */
  async open({ requestTimeoutMs, prove, signal }: OpenOptions): Promise<ReadyGuard> {
    const streams = new GuardStreams(
      (events) => new WebSocketStream(this.#address, this.#credentials, events),
      polledAhead,
    );
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
      concurrency: streams.concurrency,
      takes: takenOverWebSocket,
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

  /** The callers have aborted their streams, and with them their connections. */
  close(): void {}
}
