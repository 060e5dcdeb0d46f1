import type { ServiceDefinition } from '@grpc/grpc-js';
import type { GuardAddress } from '../protocol/address.ts';
import { tryHarmlessText } from '../protocol/canary.ts';
import { instanceConcurrency } from '../concurrency/concurrency.ts';
import type { Connection, OpenOptions, Reading, ReadyGuard } from '../protocol/connection.ts';
import { NotUsable, notUsable } from '../protocol/not-usable.ts';
import { decodeReply } from '../tensors/decode-reply.ts';
import { encodeRequest, type Signature } from '../tensors/encode-request.ts';
import { GuardChannel } from './channel.ts';
import { negotiate, readVersion } from './negotiate.ts';
import { maxVerdictReplyBytes } from './reply-bounds.ts';

/** Timeout of readiness and configuration calls, in milliseconds. */
const PROBE_TIMEOUT_MS = 5000;

/** A guard behind Triton, over the gRPC form of the KServe v2 protocol. */
export class TritonConnection implements Connection {
  readonly #channel: GuardChannel;

  /** Does not connect before `open`. */
  constructor(address: GuardAddress, service: ServiceDefinition, token: string | null) {
    this.#channel = new GuardChannel(address, service, token);
  }

  async open({ requestTimeoutMs, prove, signal }: OpenOptions): Promise<ReadyGuard> {
    const channel = this.#channel;
    const model = await negotiate(channel, { timeoutMs: PROBE_TIMEOUT_MS, signal });
    const options = { timeoutMs: requestTimeoutMs, signal };
    let first: Reading;
    try {
      first = await readVersion(channel, model, options);
    } catch (error) {
      throw notUsable(error, options);
    }
    const guard: ReadyGuard = {
      maxBatchSize: model.maxBatchSize,
      concurrency: instanceConcurrency(model.instances, model.maxBatchSize),
      takes: (signature) => {
        if (signature === 'generation') return false;
        const input = mediaInputOf(signature);
        return input === null || model.mediaInputs.has(input);
      },
      judge: async (rows, callOptions) => {
        const reply = await channel.call(
          'ModelInfer',
          encodeRequest(rows, model),
          maxVerdictReplyBytes(rows.length),
          callOptions,
        );
        const isConversation = rows[0]!.request.requestType === 'multiturn';
        const answers = decodeReply(reply, rows.length, model, isConversation);
        return { answers, modelVersion: reply.model_version };
      },
      version: { first, read: (callOptions) => readVersion(channel, model, callOptions) },
    };
    const canary = prove ? await tryHarmlessText(guard, options) : null;
    if (canary?.kind === 'failed') throw new NotUsable(canary.reason, canary.fatal);
    if (canary?.kind === 'shared-failure') throw new NotUsable('fails on harmless text', false);
    return guard;
  }

  close(): void {
    this.#channel.close();
  }
}

function mediaInputOf(signature: Signature): 'IMAGE' | 'AUDIO' | null {
  if (signature.startsWith('image')) return 'IMAGE';
  return signature.startsWith('audio') ? 'AUDIO' : null;
}
