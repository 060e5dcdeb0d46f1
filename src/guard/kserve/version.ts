import type { CallOptions, Reading } from '../protocol/connection.ts';
import { NotUsable } from '../protocol/not-usable.ts';
import { encodeVersionRequest, type TensorLayout } from '../tensors/encode-request.ts';
import { decodeVersionReply } from '../tensors/version-reply.ts';
import type { KserveCalls } from './kserve-calls.ts';
import { MAX_REPLY_BYTES } from './reply-bounds.ts';

/** Max length of a model version. Triton's are integers. */
const MAX_MODEL_VERSION = 256;

/** Asks which model is deployed. Throws `NotUsable` when the reply has no version, and `CallError` when the call fails. */
export async function readVersion(
  calls: KserveCalls,
  layout: TensorLayout,
  options: CallOptions,
): Promise<Reading> {
  const reply = await calls.infer(encodeVersionRequest(layout), MAX_REPLY_BYTES, options);
  const fingerprint = decodeVersionReply(reply);
  const modelVersion = reply.model_version;
  if (fingerprint === null || modelVersion.length > MAX_MODEL_VERSION) {
    throw new NotUsable('version not readable', true, 'its version reply holds no artifact hashes');
  }
  return { fingerprint, modelVersion };
}
