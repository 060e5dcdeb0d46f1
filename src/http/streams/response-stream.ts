import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type RawData, type WebSocket } from 'ws';
import {
  readStreamRequest,
  writeStreamError,
  writeStreamVerdict,
} from '../../guard/tensors/stream/stream-json.ts';
import { InvalidStreamMessage, MAX_STREAM_TEXT_BYTES } from '../../guard/tensors/stream/stream-messages.ts';
import { closeCodeOf } from '../../guard/tensors/stream/stream-status.ts';
import type { UpgradeHandler } from '../upgrades.ts';
import type { ModerationStream, StreamError, StreamSink } from './moderation-stream.ts';
import type { ModerationStreams } from './moderation-streams.ts';
import type { PrefixReport } from './prefix-judge.ts';

/** Path of moderation streams over WebSockets. */
const PATH = '/v1/moderations/response-stream';

/** Max bytes of a client's message; a longer one closes the socket with code 1009. */
const MAX_MESSAGE_BYTES = MAX_STREAM_TEXT_BYTES;

/**
 * Max frames of a message, and max pieces in which a frame arrives: each takes some hundred bytes of overhead. A socket
 * with more is closed with code 1008.
 */
const MAX_PIECES = 4096;

/** Max bytes of replies that a client has not read. */
const MAX_UNREAD_BYTES = 64 * 1024;

/** How long a client may take to answer the closing of its socket, in milliseconds; it is then disconnected. */
const CLOSE_TIMEOUT_MS = 2000;

/** Interval between two pings, in milliseconds. A client that does not answer one before the next is gone. */
const PING_MS = 30_000;

const NORMAL_CLOSURE = 1000;

/** The types of ws lack some of these. */
const SERVER_OPTIONS = {
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  maxPayload: MAX_MESSAGE_BYTES,
  maxFragments: MAX_PIECES,
  maxBufferedChunks: MAX_PIECES,
  closeTimeout: CLOSE_TIMEOUT_MS,
};

/**
 * Accepts the WebSocket handshakes of a server: one moderation stream per socket. A handshake for another path is
 * answered with 404.
 */
export function responseStreams(streams: ModerationStreams): UpgradeHandler {
  const server = new WebSocketServer(SERVER_OPTIONS);
  return (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (request.url?.split('?', 1)[0] !== PATH) {
      const reply = 'HTTP/1.1 404 Not Found\r\nconnection: close\r\ncontent-length: 0\r\n\r\n';
      // A client that does not end its side would keep the connection forever.
      socket.end(reply, () => socket.destroy());
      return;
    }
    const { remoteAddress, remotePort } = request.socket;
    server.handleUpgrade(request, socket, head, (webSocket) => {
      new ResponseStream(webSocket, streams, `${remoteAddress}:${remotePort}`);
    });
  };
}

/**
 * One moderation stream over a WebSocket. Each message is answered with one verdict: its own if the message makes a
 * verdict due, otherwise the latest at once. An error is sent as the last message; the socket is then closed with the
 * code of its status.
 */
class ResponseStream implements StreamSink {
  readonly #socket: WebSocket;
  readonly #stream: ModerationStream;
  #isOver = false;
  /** Messages with a chunk whose verdict is due. */
  #unanswered = 0;
  #isAlive = true;

  constructor(socket: WebSocket, streams: ModerationStreams, connection: string) {
    this.#socket = socket;
    const pings = setInterval(() => this.#ping(), PING_MS);
    socket.on('pong', () => (this.#isAlive = true));
    // The socket closes after a protocol or connection error.
    socket.on('error', () => {});
    this.#stream = streams.start(connection, this);
    socket.on('message', (data, isBinary) => this.#receive(data, isBinary));
    socket.once('close', () => {
      clearInterval(pings);
      this.#stream.clientLeft();
    });
  }

  /** Sends a verdict. A verdict made due by time instead of a message is sent with the next message. */
  verdict(report: PrefixReport): boolean {
    if (report.verdict.isFinal) this.#reply(report);
    else if (this.#unanswered > 0) {
      this.#unanswered--;
      this.#reply(report);
    }
    return true;
  }

  ended(error: StreamError | null): void {
    this.#isOver = true;
    if (error === null) this.#socket.close(NORMAL_CLOSURE);
    else {
      this.#socket.send(writeStreamError(error.status, error.text), () => {});
      this.#socket.close(closeCodeOf(error.status));
    }
  }

  #receive(data: RawData, isBinary: boolean): void {
    if (this.#isOver) return;
    if (isBinary) {
      this.#stream.receiveInvalid('a message is text, not binary');
      return;
    }
    let request;
    try {
      request = readStreamRequest((data as Buffer).toString());
    } catch (error) {
      if (!(error instanceof InvalidStreamMessage)) throw error;
      this.#stream.receiveInvalid(error.message);
      return;
    }
    const isDue = this.#stream.receive(request);
    if (request.endOfStream) return;
    if (isDue) this.#unanswered++;
    else if (this.#stream.last !== null) this.#reply(this.#stream.last);
  }

  #reply({ verdict }: PrefixReport): void {
    if (this.#isOver) return;
    this.#socket.send(writeStreamVerdict(verdict));
    if (this.#socket.bufferedAmount > MAX_UNREAD_BYTES) {
      this.#stream.end('limit exceeded', 'the client does not read its verdicts');
    }
  }

  #ping(): void {
    if (!this.#isAlive) {
      this.#socket.terminate();
      return;
    }
    this.#isAlive = false;
    this.#socket.ping();
  }
}
