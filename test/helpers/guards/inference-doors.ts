import type { GuardServer } from '../../../src/guard-server/server.ts';
import { decodeBooleans, decodeBytes } from '../../../src/guard/tensors/raw.ts';
import { output, TestClient, type TestTensor } from './guard-client.ts';
import { binaryBody, replyOf } from './http-infer.ts';

/** The ways to ask a guard for inference: gRPC, and HTTP with inputs in JSON or in binary. */
export const DOORS = ['gRPC', 'HTTP with JSON', 'HTTP with binary tensors'] as const;
export type DoorName = (typeof DOORS)[number];

/** The elements of each output, or the text of the error. */
export interface DoorReply {
  readonly outputs: Readonly<Record<string, readonly unknown[]>>;
  readonly error: string | null;
}

export interface InferenceDoor {
  infer(tensors: readonly TestTensor[]): Promise<DoorReply>;
  close(): void;
}

/** Opens a door to a server that listens on both ports. */
export function openDoor(name: DoorName, server: GuardServer): InferenceDoor {
  if (name === 'gRPC') return openGrpc(server);
  const url = `${server.httpAddress!}/v2/models/guard/infer`;
  const post = async (init: RequestInit): Promise<DoorReply> => {
    const { outputs = [], error = null } = (await replyOf(await fetch(url, { method: 'POST', ...init })))
      .json!;
    return {
      outputs: Object.fromEntries(outputs.map(({ name: of, data }) => [of, data!.map(asSent)])),
      error,
    };
  };
  const bodyOf = (tensors: readonly TestTensor[]): RequestInit =>
    name === 'HTTP with JSON'
      ? { body: JSON.stringify({ id: 'q7', inputs: tensors.map(inJson) }) }
      : binaryBody(tensors, { id: 'q7' });
  return { infer: (tensors) => post(bodyOf(tensors)), close: () => {} };
}

function openGrpc(server: GuardServer): InferenceDoor {
  const client = new TestClient(server.address);
  return {
    infer: async (tensors) => {
      try {
        const reply = await client.infer({ id: 'q7', tensors });
        const outputs = reply.outputs.map(({ name }) => [name, output(reply, name)] as const);
        return { outputs: Object.fromEntries(outputs), error: null };
      } catch (error) {
        return { outputs: {}, error: (error as { details: string }).details };
      }
    },
    close: () => client.close(),
  };
}

/** Numbers of JSON replies as single-precision ones, which tensors hold. */
function asSent(value: unknown): unknown {
  return typeof value === 'number' ? Math.fround(value) : value;
}

function inJson({ raw, ...tensor }: TestTensor): object {
  const data = tensor.datatype === 'BOOL' ? decodeBooleans(raw) : decodeBytes(raw)!.map(String);
  return { ...tensor, data };
}
