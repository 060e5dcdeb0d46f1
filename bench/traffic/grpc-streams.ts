import { Client, credentials, status, type ClientDuplexStream, type StatusObject } from '@grpc/grpc-js';
import { loadService } from '../../src/guard/tensors/service.ts';
import type { InferRequest, InferResponse } from '../../src/guard/tensors/protocol.ts';
import { encodeStreamRequest, decodeStreamVerdict } from '../../src/guard/tensors/stream/stream-tensors.ts';
import type { StreamRequest } from '../../src/guard/tensors/stream/stream-messages.ts';
import { MAX_ANSWER_MS } from './answer-time.ts';
import { chunkMessage, type OpenStream, type StreamClient, type StreamEvents } from './stream-client.ts';

const { ModelStreamInfer: METHOD } = loadService();
const LAYOUT = { batched: true };

interface Reply {
  readonly infer_response: InferResponse;
}

/** A client of ModelStreamInfer with its own connection. */
export class GrpcStreamClient implements StreamClient {
  readonly #client: Client;

  /** `address` has the form `grpc://host:port`. */
  constructor(address: string) {
    this.#client = new Client(new URL(address).host, credentials.createInsecure(), {
      'grpc.use_local_subchannel_pool': 1,
    });
  }

  open(events: StreamEvents): OpenStream {
    const { path, requestSerialize, responseDeserialize } = METHOD!;
    const call = this.#client.makeBidiStreamRequest(
      path,
      requestSerialize as (message: InferRequest) => Buffer,
      responseDeserialize as (message: Buffer) => Reply,
      { deadline: Date.now() + MAX_ANSWER_MS },
    );
    return new GrpcStream(call, events);
  }

  close(): void {
    this.#client.close();
  }
}

class GrpcStream implements OpenStream {
  readonly #call: ClientDuplexStream<InferRequest, Reply>;

  constructor(call: ClientDuplexStream<InferRequest, Reply>, { verdict, ended }: StreamEvents) {
    this.#call = call;
    call.on('data', ({ infer_response }: Reply) => verdict(decodeStreamVerdict(infer_response)));
    // The status has the same information.
    call.on('error', () => {});
    call.on('status', ({ code, details }: StatusObject) => ended(status[code], details));
  }

  send(message: StreamRequest): void {
    this.#call.write(encodeStreamRequest(message, LAYOUT));
  }

  sendNonsense(): void {
    const { raw_input_contents, ...request } = encodeStreamRequest(chunkMessage(1, 'chunk'), LAYOUT);
    this.#call.write({ ...request, raw_input_contents: raw_input_contents.map((raw) => raw.subarray(1)) });
  }

  end(): void {
    this.#call.end();
  }

  leave(): void {
    this.#call.cancel();
  }
}
