import { Client, credentials, Metadata, status as grpcStatus, type ClientDuplexStream } from '@grpc/grpc-js';
import type { InferRequest, InferResponse } from '../../../src/guard/tensors/protocol.ts';
import { loadService } from '../../../src/guard/tensors/service.ts';
import {
  encodeStreamRequest,
  decodeStreamVerdict,
} from '../../../src/guard/tensors/stream/stream-tensors.ts';
import type { StreamRequest, StreamVerdict } from '../../../src/guard/tensors/stream/stream-messages.ts';
import { WebSocket } from 'ws';
import { readStreamReply, writeStreamRequest } from '../../../src/guard/tensors/stream/stream-json.ts';
import { statusOfCloseCode } from '../../../src/guard/tensors/stream/stream-status.ts';
import { message } from './moderation-streams.ts';
import { settled } from '../settled.ts';

export interface StreamReply {
  readonly error_message: string;
  readonly infer_response: InferResponse & { readonly parameters: Readonly<Record<string, object>> };
}

/** Calls of ModelStreamInfer on one connection. */
export class StreamConnection {
  readonly #client: Client;
  readonly #method = loadService()['ModelStreamInfer']!;

  constructor(address: string) {
    const options = { 'grpc.use_local_subchannel_pool': 1 };
    this.#client = new Client(address.replace(/^grpc:\/\//, ''), credentials.createInsecure(), options);
  }

  call(): ClientDuplexStream<object, StreamReply> {
    const { path, requestSerialize, responseDeserialize } = this.#method;
    const deserialize = responseDeserialize as (bytes: Buffer) => StreamReply;
    return this.#client.makeBidiStreamRequest(path, requestSerialize, deserialize, new Metadata());
  }

  open(): StreamClient {
    return new GrpcStreamClient(this.call());
  }

  close(): void {
    this.#client.close();
  }
}

/** A client of one moderation stream that sends whatever it is told to, over any transport. */
export abstract class StreamClient {
  readonly verdicts: StreamVerdict[] = [];
  /** The status that the stream ended with: a gRPC status name, 'OK' without an error. */
  readonly ended: Promise<string>;
  /** The text of the error that ended the stream. */
  text = '';
  protected settle!: (status: string) => void;
  readonly #waiting: { readonly seq: number; readonly resolve: (verdict: StreamVerdict) => void }[] = [];

  constructor() {
    this.ended = new Promise((resolve) => (this.settle = resolve));
  }

  abstract send(request: Partial<StreamRequest>): void;
  /** Sends a message that is not one. */
  abstract sendNonsense(): void;
  /** Says that it sends nothing more, as its transport does. */
  abstract end(): void;
  /** Disconnects. */
  abstract leave(): void;

  /** Waits for a verdict that judges up to this seq. */
  judged(seq: number): Promise<StreamVerdict> {
    const found = this.verdicts.find(({ processedUntilSeq }) => processedUntilSeq >= seq);
    if (found !== undefined) return Promise.resolve(found);
    const judged = new Promise<StreamVerdict>((resolve) => this.#waiting.push({ seq, resolve }));
    const failed = this.ended.then((status) => {
      throw new Error(`the stream ended with ${status} before seq ${seq} was judged`);
    });
    return Promise.race([judged, failed]);
  }

  /** Waits until there are so many verdicts. */
  async replied(count: number): Promise<void> {
    await settled(() => this.verdicts.length >= count);
  }

  protected received(verdict: StreamVerdict): void {
    this.verdicts.push(verdict);
    for (const { seq, resolve } of this.#waiting) if (verdict.processedUntilSeq >= seq) resolve(verdict);
  }
}

class GrpcStreamClient extends StreamClient {
  readonly #call: ClientDuplexStream<object, StreamReply>;

  constructor(call: ClientDuplexStream<object, StreamReply>) {
    super();
    this.#call = call;
    call.on('data', ({ infer_response }: StreamReply) => this.received(decodeStreamVerdict(infer_response)));
    call.on('error', () => {});
    call.on('status', ({ code, details }) => {
      this.text = details;
      this.settle(grpcStatus[code]);
    });
  }

  send(request: Partial<StreamRequest>): void {
    this.write(encodeStreamRequest(message(request), { batched: true }));
  }

  sendNonsense(): void {
    const { inputs, ...rest } = encodeStreamRequest(message({}), { batched: true });
    this.write({ ...rest, inputs: inputs.map((input) => ({ ...input, datatype: 'FP32' })) });
  }

  end(): void {
    this.#call.end();
  }

  leave(): void {
    this.#call.cancel();
  }

  write(request: InferRequest): void {
    this.#call.write(request);
  }
}

/** A stream over a WebSocket to a server at `http://host:port`. Messages wait until it is open. */
export class WebSocketStreamClient extends StreamClient {
  readonly socket: WebSocket;
  readonly #opened: Promise<void>;

  constructor(httpAddress: string, path = '/v1/moderations/response-stream') {
    super();
    this.socket = new WebSocket(`${httpAddress.replace(/^http/, 'ws')}${path}`, { perMessageDeflate: false });
    this.#opened = new Promise((resolve) => this.socket.once('open', resolve));
    this.socket.on('message', (data: Buffer) => {
      const { verdict, error } = readStreamReply(data.toString());
      if (error === null) this.received(verdict);
      else this.text = error.text;
    });
    this.socket.on('error', () => {});
    this.socket.once('close', (code) => {
      this.settle(code === 1000 ? 'OK' : (statusOfCloseCode(code) ?? `close code ${code}`));
    });
  }

  send(request: Partial<StreamRequest>): void {
    this.sendText(writeStreamRequest(message(request)));
  }

  sendNonsense(): void {
    this.sendText('{');
  }

  sendText(text: string | Buffer): void {
    void this.#opened.then(() => this.socket.send(text));
  }

  /** A client that has its final verdict closes the socket. */
  end(): void {
    if (this.verdicts.at(-1)?.isFinal === true) this.socket.close(1000);
  }

  leave(): void {
    this.socket.terminate();
  }
}
