import { onTestFinished } from 'vitest';
import type { GuardServer } from '../../../src/guard-server/server.ts';
import { decodeBooleans, decodeBytes } from '../../../src/guard/tensors/raw.ts';
import { outputs, TestClient, type TestTensor } from './guard-client.ts';
import { binaryBody, outputsOf, replyOf } from './http-infer.ts';

/** The elements of each output, or the text of the error. */
export interface DoorReply {
  readonly outputs: Readonly<Record<string, readonly unknown[]>>;
  readonly error: string | null;
}

type Infer = (tensors: readonly TestTensor[]) => Promise<DoorReply>;

/** Asks a server for inference over HTTP. */
const overHttp =
  (bodyOf: (tensors: readonly TestTensor[]) => RequestInit) =>
  ({ httpAddress }: GuardServer): Infer =>
  async (tensors) => {
    const init = { method: 'POST', ...bodyOf(tensors) };
    const reply = await replyOf(await fetch(`${httpAddress!}/v2/models/guard/infer`, init));
    return { outputs: outputsOf(reply), error: reply.json!.error ?? null };
  };

function overGrpc({ address }: GuardServer): Infer {
  const client = new TestClient(address);
  onTestFinished(() => client.close());
  return (tensors) =>
    client.infer({ id: 'q7', tensors }).then(
      (reply) => ({ outputs: outputs(reply), error: null }),
      (error: { details: string }) => ({ outputs: {}, error: error.details }),
    );
}

/** The ways to ask a guard for inference, which listens on both ports, in one test. */
export const DOORS: [name: string, open: (server: GuardServer) => Infer][] = [
  ['gRPC', overGrpc],
  ['HTTP with JSON', overHttp((tensors) => ({ body: inJson(tensors) }))],
  ['HTTP with binary tensors', overHttp((tensors) => binaryBody(tensors, { id: 'q7' }))],
];

function inJson(tensors: readonly TestTensor[]): string {
  const inputs = tensors.map(({ raw, ...tensor }) => {
    return {
      ...tensor,
      data: tensor.datatype === 'BOOL' ? decodeBooleans(raw) : decodeBytes(raw)!.map(String),
    };
  });
  return JSON.stringify({ id: 'q7', inputs });
}
