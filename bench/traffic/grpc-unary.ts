import { Client, credentials, status, type ServiceError } from '@grpc/grpc-js';
import { MODEL_NAME, type InferRequest, type InferResponse } from '../../src/guard/tensors/protocol.ts';
import { encodeStrings } from '../../src/guard/tensors/raw.ts';
import { loadService } from '../../src/guard/tensors/service.ts';
import { MAX_ANSWER_MS } from './answer-time.ts';
import type { UnaryAnswer, UnaryClient } from './unary-caller.ts';
import type { Damage, UnaryCall } from './unary-calls.ts';
import { verdictText } from './verdict-text.ts';

const { ModelInfer: METHOD } = loadService();

/** A client of ModelInfer with its own connection. */
export class GrpcUnaryClient implements UnaryClient {
  readonly refusal = 'INVALID_ARGUMENT';
  readonly #client: Client;

  /** `address` has the form `grpc://host:port`. */
  constructor(address: string) {
    this.#client = new Client(new URL(address).host, credentials.createInsecure(), {
      'grpc.use_local_subchannel_pool': 1,
    });
  }

  send(call: UnaryCall, id: string): Promise<UnaryAnswer> {
    const damage = call.fault?.damage ?? null;
    const { path, responseDeserialize } = METHOD!;
    return new Promise((resolve) => {
      const sent = this.#client.makeUnaryRequest(
        path,
        (message: Buffer) => message,
        responseDeserialize as (message: Buffer) => InferResponse,
        messageOf(call, id, damage),
        { deadline: Date.now() + MAX_ANSWER_MS },
        (error, reply) => resolve(answerOf(error, reply, damage)),
      );
      if (damage === 'leave') setImmediate(() => sent.cancel());
    });
  }

  close(): void {
    this.#client.close();
  }
}

function messageOf({ inputs }: UnaryCall, id: string, damage: Damage | null): Buffer {
  if (damage === 'garble') return Buffer.alloc(64, 0xff);
  const raw = inputs.map(({ values }) => encodeStrings(values));
  if (damage === 'truncate') raw.push(raw.pop()!.subarray(0, -1));
  const request: InferRequest = {
    model_name: MODEL_NAME,
    model_version: '',
    id,
    inputs: inputs.map(({ name, datatype, shape }) => ({ name, datatype, shape })),
    raw_input_contents: raw,
  };
  return METHOD!.requestSerialize(request);
}

function answerOf(
  error: ServiceError | null,
  reply: InferResponse | undefined,
  damage: Damage | null,
): UnaryAnswer {
  if (error !== null) {
    if (damage === 'leave' && error.code === status.CANCELLED) return 'left';
    return { status: status[error.code], text: error.details };
  }
  // The reply arrived before its client left.
  if (damage === 'leave') return 'left';
  const raw = new Map(reply!.outputs.map(({ name }, index) => [name, reply!.raw_output_contents[index]!]));
  return { id: reply!.id, verdict: verdictText(raw) };
}
