import { Client, credentials, type MethodDefinition } from '@grpc/grpc-js';
import {
  MODEL_NAME,
  type InferRequest,
  type InferResponse,
  type WireTensor,
} from '../../src/guard/tensors/protocol.ts';
import { decodeBooleans, decodeFloats, encodeStrings } from '../../src/guard/tensors/raw.ts';
import { loadService } from '../../src/guard/tensors/service.ts';
import { CATEGORY_COUNT } from '../../src/domain/taxonomy.ts';

/** A guard's verdict on one text, as in its tensors. */
export interface TextAnswer {
  readonly score: number;
  readonly flagged: boolean;
  readonly categoryScores: readonly number[];
  readonly categoryFlags: readonly boolean[];
}

/** A minimal client: one ModelInfer call per batch of texts. */
export class TextClient {
  readonly #client: Client;
  readonly #infer: MethodDefinition<InferRequest, InferResponse>;

  /** `address` has the form `grpc://host:port`. */
  constructor(address: string) {
    this.#client = new Client(new URL(address).host, credentials.createInsecure());
    this.#infer = loadService()['ModelInfer'] as MethodDefinition<InferRequest, InferResponse>;
  }

  /** Answers in the order of the texts. Rejects with the call's error. */
  async judge(texts: readonly string[]): Promise<TextAnswer[]> {
    const { path, requestSerialize, responseDeserialize } = this.#infer;
    const request = requestOf(texts);
    const reply = await new Promise<InferResponse>((resolve, reject) => {
      this.#client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, (error, value) =>
        error === null ? resolve(value!) : reject(error),
      );
    });
    return answersOf(reply, texts.length);
  }

  close(): void {
    this.#client.close();
  }
}

function requestOf(texts: readonly string[]): InferRequest {
  const shape = [texts.length, 1];
  const tensor = (name: string): WireTensor => ({ name, datatype: 'BYTES', shape });
  const same = (value: string): Buffer => encodeStrings(new Array<string>(texts.length).fill(value));
  return {
    model_name: MODEL_NAME,
    model_version: '',
    id: '',
    inputs: [tensor('REQUEST_TYPE'), tensor('MODALITY'), tensor('TEXT')],
    raw_input_contents: [same('prompt'), same('text'), encodeStrings(texts)],
  };
}

function answersOf(reply: InferResponse, rows: number): TextAnswer[] {
  const raw = (name: string): Buffer =>
    reply.raw_output_contents[reply.outputs.findIndex((output) => output.name === name)]!;
  const scores = decodeFloats(raw('SCORE'))!;
  const flagged = decodeBooleans(raw('FLAGGED'))!;
  const categoryScores = decodeFloats(raw('SUBCATEGORY_SCORES'))!;
  const categoryFlags = decodeBooleans(raw('SUBCATEGORY_FLAGS'))!;
  return Array.from({ length: rows }, (_, row) => {
    const from = row * CATEGORY_COUNT;
    return {
      score: scores[row]!,
      flagged: flagged[row]!,
      categoryScores: Array.from(categoryScores.subarray(from, from + CATEGORY_COUNT)),
      categoryFlags: categoryFlags.slice(from, from + CATEGORY_COUNT),
    };
  });
}
