import { randomBytes } from 'node:crypto';
import { CallError } from '../protocol/call-error.ts';
import { instanceConcurrency, undeclaredConcurrency } from '../concurrency/concurrency.ts';
import { tryHarmlessText } from '../protocol/canary.ts';
import type { CallOptions, OpenOptions, Reading, ReadyGuard } from '../protocol/connection.ts';
import { NotUsable, notUsable } from '../protocol/not-usable.ts';
import { GuardStreams } from '../streams/guard-streams.ts';
import { decodeReply } from '../tensors/decode-reply.ts';
import {
  encodeRequest,
  encodeVersionRequest,
  type RequestKind,
  type TensorLayout,
} from '../tensors/encode-request.ts';
import { decodeVersionReply } from '../tensors/version-reply.ts';
import type { InferRequest, InferResponse } from '../tensors/protocol.ts';
import { type KserveCalls, MAX_REPLY_BYTES, maxVerdictReplyBytes } from './kserve-calls.ts';
import { negotiate } from './negotiate.ts';

/** Timeout of readiness, configuration and metadata calls, in milliseconds. */
const PROBE_TIMEOUT_MS = 5000;

/**
 * Negotiates with a guard that speaks the KServe v2 protocol, reads its version, and makes it judge a harmless text if
 * requested.
 */
export async function openGuard(
  calls: KserveCalls,
  { requestTimeoutMs, prove, signal }: OpenOptions,
): Promise<ReadyGuard> {
  const model = await negotiate(calls, { timeoutMs: PROBE_TIMEOUT_MS, signal });
  const options = { timeoutMs: requestTimeoutMs, signal };
  const infer = inferById(calls);
  let first: Reading;
  try {
    first = await readVersion(infer, model, options);
  } catch (error) {
    throw notUsable(error, options);
  }
  const { stream } = calls;
  const streams = stream && new GuardStreams((events) => stream(model, events));
  const guard: ReadyGuard = {
    maxBatchSize: model.maxBatchSize,
    instances: model.instances,
    concurrency:
      model.instances === null
        ? undeclaredConcurrency(model.maxBatchSize)
        : instanceConcurrency(model.instances, model.maxBatchSize),
    takes: (requestKind) => {
      if (requestKind === 'generation') return streams !== null;
      const input = mediaInputOf(requestKind);
      return input === null || model.mediaInputs.has(input);
    },
    isReady: async (callOptions) =>
      (await calls.serverReady(callOptions)) && (await calls.modelReady(callOptions)),
    judge: async (rows, callOptions) => {
      const { request } = rows[0]!;
      if (request.requestType === 'generation') return streams!.replay(request, callOptions);
      const maxBytes = maxVerdictReplyBytes(rows.length);
      const reply = await infer((id) => encodeRequest(rows, model, id), maxBytes, callOptions);
      const isConversation = request.requestType === 'multiturn';
      const answers = decodeReply(reply, rows.length, model, isConversation);
      return { answers, modelVersion: reply.model_version };
    },
    version: { first, read: (callOptions) => readVersion(infer, model, callOptions) },
    streams,
  };
  const canary = prove ? await tryHarmlessText(guard, options) : null;
  if (canary?.kind === 'failed') throw new NotUsable(canary.reason, canary.fatal);
  if (canary?.kind === 'shared-failure') throw new NotUsable('fails on harmless text', false);
  return guard;
}

type Infer = (
  makeRequest: (id: string) => InferRequest,
  maxReplyBytes: number,
  options: CallOptions,
) => Promise<InferResponse>;

/**
 * Sends inference requests with unique ids. A reply with another id is a failed attempt, so the items are judged again.
 */
function inferById(calls: KserveCalls): Infer {
  const prefix = randomBytes(6).toString('hex');
  let requests = 0;
  return async (makeRequest, maxReplyBytes, options) => {
    const request = makeRequest(`${prefix}-${++requests}`);
    const reply = await calls.infer(request, maxReplyBytes, options);
    if (reply.id === '' || reply.id === request.id) return reply;
    throw new CallError('the reply to another request', { kind: 'attempt', code: 'INVALID_REPLY' });
  };
}

function mediaInputOf(requestKind: RequestKind): 'IMAGE' | 'AUDIO' | null {
  if (requestKind.startsWith('image')) return 'IMAGE';
  return requestKind.startsWith('audio') ? 'AUDIO' : null;
}

/** Max length of a model version. Triton's are integers. */
const MAX_MODEL_VERSION = 256;

/**
 * Reads which model is deployed. Throws `NotUsable` when the reply has no version, and `CallError` when the call fails.
 */
async function readVersion(infer: Infer, layout: TensorLayout, options: CallOptions): Promise<Reading> {
  const reply = await infer((id) => encodeVersionRequest(layout, id), MAX_REPLY_BYTES, options);
  const fingerprint = decodeVersionReply(reply);
  const modelVersion = reply.model_version;
  if (fingerprint === null || modelVersion.length > MAX_MODEL_VERSION) {
    throw new NotUsable('version not readable', true, 'its version reply holds no artifact hashes');
  }
  return { fingerprint, modelVersion };
}
