import { WebSocket } from 'ws';
import type { RawData } from 'ws';
import { httpFailed, socketClosed, socketFailed, streamFailed, unreadableReply } from '../faults/classify.ts';
import type { CallError } from '../protocol/call-error.ts';
import type { Credentials } from '../protocol/connection.ts';
import type { StreamEvents, StreamTransport } from '../streams/stream-transport.ts';
import { readStreamReply, type StreamReply, writeStreamRequest } from '../tensors/stream/stream-json.ts';
import type { StreamRequest } from '../tensors/stream/stream-messages.ts';

/** Max size of a message from the server, in bytes. A verdict has about 150. */
const MAX_MESSAGE_BYTES = 16 * 1024;
/** Timeout for the connection and the handshake, in milliseconds. */
const HANDSHAKE_TIMEOUT_MS = 10_000;
/** Close code of a complete stream. */
const NORMAL = 1000;

/**
 * A moderation stream on its own WebSocket. The server replies to each message, and the next message waits for the
 * reply, so at most one is in transit. Follows no redirects and uses no proxies or compression, as over REST.
 */
export class WebSocketStream implements StreamTransport {
  readonly #socket: WebSocket;
  readonly #events: StreamEvents;
  /** Messages written before the socket is open. */
  #unsent: string[] = [];
  /** Messages without a reply. */
  #unanswered = 0;
  #isOver = false;

  constructor(url: string, { token, tls }: Credentials, events: StreamEvents) {
    this.#events = events;
    this.#socket = new WebSocket(url, {
      ...(url.startsWith('wss:') ? tls : {}),
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      maxPayload: MAX_MESSAGE_BYTES,
      perMessageDeflate: false,
      followRedirects: false,
      headers: token === null ? {} : { authorization: `Bearer ${token}` },
    });
    this.#socket.on('open', () => {
      for (const message of this.#unsent) this.#socket.send(message);
      this.#unsent = [];
    });
    this.#socket.on('message', (data, isBinary) => this.#read(data, isBinary));
    this.#socket.on('unexpected-response', (request, { statusCode, headers }) => {
      this.#fail(httpFailed({ status: statusCode!, headers, body: null, about: 'text' }));
      request.destroy();
    });
    // Never removed: a socket that is closed while it connects still reports an error.
    this.#socket.on('error', (error) => this.#fail(socketFailed(error)));
    this.#socket.on('close', (code) => {
      if (code === NORMAL && !this.#isOver) {
        this.#isOver = true;
        this.#events.ended();
      } else this.#fail(socketClosed(code));
    });
  }

  write(request: StreamRequest): boolean {
    const message = writeStreamRequest(request);
    this.#unanswered++;
    if (this.#socket.readyState === WebSocket.CONNECTING) this.#unsent.push(message);
    else this.#socket.send(message);
    return false;
  }

  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#socket.terminate();
  }

  #read(data: RawData, isBinary: boolean): void {
    if (this.#isOver) return;
    const reply = isBinary ? null : parseMessage(data);
    if (reply === null) this.#fail(unreadableReply());
    // The server may end the stream at any time.
    else if (reply.error !== null) this.#fail(streamFailed(reply.error.status, reply.error.text));
    else if (this.#unanswered === 0) this.#fail(unreadableReply());
    else {
      this.#unanswered--;
      this.#events.verdict(reply.verdict, null);
      if (!this.#isOver) this.#events.drained();
    }
  }

  #fail(error: CallError): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#socket.terminate();
    this.#events.failed(error);
  }
}

/** Parses a message; null if it is malformed. */
function parseMessage(data: RawData): StreamReply | null {
  try {
    return readStreamReply((data as Buffer).toString('utf8'));
  } catch {
    // The error is dropped: its text could quote the message.
    return null;
  }
}
