import { WebSocket, type RawData } from 'ws';
import { readStreamReply, writeStreamRequest } from '../../src/guard/tensors/stream/stream-json.ts';
import type { StreamRequest } from '../../src/guard/tensors/stream/stream-messages.ts';
import { closeCodeOf } from '../../src/guard/tensors/stream/stream-status.ts';
import { MAX_ANSWER_MS } from './answer-time.ts';
import type { OpenStream, StreamClient, StreamEvents } from './stream-client.ts';

const COMPLETE = 1000;

/** A client of streams over WebSockets, each on its own connection. */
export class WebSocketStreamClient implements StreamClient {
  readonly #url: URL;

  /** `address` has the form `http://host:port`. */
  constructor(address: string) {
    this.#url = new URL('/v1/moderations/response-stream', address.replace(/^http/, 'ws'));
  }

  open(events: StreamEvents): OpenStream {
    return new WebSocketStream(new WebSocket(this.#url, { perMessageDeflate: false }), events);
  }

  close(): void {
    // Every stream closes its own connection.
  }
}

class WebSocketStream implements OpenStream {
  readonly #socket: WebSocket;
  /** Messages sent before the handshake is done. */
  readonly #early: string[] = [];

  constructor(socket: WebSocket, { verdict, ended }: StreamEvents) {
    this.#socket = socket;
    const timer = setTimeout(() => socket.terminate(), MAX_ANSWER_MS);
    let status = 'OK';
    let text = '';
    socket.on('open', () => {
      for (const message of this.#early) socket.send(message);
    });
    socket.on('message', (data: RawData) => {
      const reply = readStreamReply((data as Buffer).toString());
      if (reply.verdict !== null) verdict(reply.verdict);
      else ({ status, text } = reply.error);
    });
    socket.on('error', ({ message }) => (text ||= message));
    socket.on('close', (code) => {
      clearTimeout(timer);
      const expected = status === 'OK' ? COMPLETE : closeCodeOf(status as Parameters<typeof closeCodeOf>[0]);
      ended(code === expected ? status : `closed with ${code} after ${status}`, text);
    });
  }

  send(message: StreamRequest): void {
    this.#write(writeStreamRequest(message));
  }

  sendNonsense(): void {
    this.#write('{"seq": 1, "response_chunk": ');
  }

  end(): void {
    this.#socket.close(COMPLETE);
  }

  leave(): void {
    this.#socket.terminate();
  }

  #write(text: string): void {
    if (this.#socket.readyState === WebSocket.CONNECTING) this.#early.push(text);
    else this.#socket.send(text, () => {});
  }
}
