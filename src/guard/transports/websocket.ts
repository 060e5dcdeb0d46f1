import { type BaseAddress, type GuardEndpoint, parseBaseAddress } from '../protocol/address.ts';
import { CallError } from '../protocol/call-error.ts';
import { HARMLESS_GENERATION } from '../protocol/canary.ts';
import type { Credentials, OpenOptions, ReadyGuard } from '../protocol/connection.ts';
import { failsHarmlessText, notUsable } from '../protocol/not-usable.ts';
import { reachHost } from '../protocol/reach-host.ts';
import { GuardStreams } from '../streams/guard-streams.ts';
import type { RequestKind } from '../tensors/encode-request.ts';
import type { Transport } from './transport.ts';

/** Path of moderation streams below the base address. */
const STREAM_PATH = '/v1/moderations/response-stream';

/** A guard behind its WebSocket endpoint for moderation streams. Each stream has its own connection. */
export const WEB_SOCKET: Transport = {
  kind: 'websocket',
  schemes: ['ws', 'wss'],
  tokenVariable: 'GUARD_TOKEN',
  unversioned: 'a WebSocket',
  takes,
  hostOf: parse,
  connector: (endpoint) => {
    const address = parse(endpoint);
    return (credentials) => ({
      open: (options) => open(address, credentials, options),
      // The callers have aborted their streams, which closed the connections.
      close: () => {},
    });
  },
};

function takes(requestKind: RequestKind): boolean {
  return requestKind === 'generation';
}

function parse(endpoint: GuardEndpoint): BaseAddress {
  return parseBaseAddress(endpoint, 'ws://host:8000');
}

/** Opens a guard. There is no readiness check, so the guard must judge a harmless generation. */
async function open(
  address: BaseAddress,
  credentials: Credentials,
  { requestTimeoutMs, prove, signal }: OpenOptions,
): Promise<ReadyGuard> {
  // Loaded only for a guard behind a WebSocket.
  const { WebSocketStream } = await import('../websocket/websocket-stream.ts');
  const streams = new GuardStreams((events) => new WebSocketStream(streamUrl(address), credentials, events));
  try {
    const options = { timeoutMs: requestTimeoutMs, signal };
    const { answers } = await streams.replay(HARMLESS_GENERATION.request, options);
    if (answers?.[0] == null) {
      throw failsHarmlessText(prove, 'its verdict on a harmless text has no score');
    }
  } catch (error) {
    // An overloaded server is still a guard.
    const isBusy =
      error instanceof CallError && (error.fault.kind === 'rate' || error.fault.kind === 'overload');
    if (!isBusy) throw notUsable(error, { signal });
  }
  return {
    maxBatchSize: 0,
    instances: null,
    concurrency: streams.concurrency,
    takes,
    // The server may answer only handshakes, and each handshake opens a stream.
    isReady: async (options) => (await reachHost(address, options)) !== '',
    judge: ([row], options) => {
      if (row?.request.requestType !== 'generation') throw new Error('not a request for a WebSocket');
      return streams.replay(row.request, options);
    },
    version: null,
    streams,
  };
}

/** URL such as `ws://host:8000/v1/moderations/response-stream`. */
function streamUrl({ host, port, secure, path }: BaseAddress): string {
  return `${secure ? 'wss' : 'ws'}://${host.includes(':') ? `[${host}]` : host}:${port}${path}${STREAM_PATH}`;
}
