import { CATEGORY_COUNT } from '../../domain/taxonomy.ts';
import type { CallOptions, Reading } from '../protocol/connection.ts';
import { NotUsable, notUsable } from '../protocol/not-usable.ts';
import { encodeVersionRequest, type TensorLayout } from '../tensors/encode-request.ts';
import { CACHE_USAGE_WIDTH, MODEL_NAME, type WireModelConfig } from '../tensors/protocol.ts';
import { decodeVersionReply } from '../tensors/version-reply.ts';
import type { GuardChannel } from './channel.ts';
import {
  CONFIG_REPLY_BYTES,
  MAX_REPLY_BYTES,
  MAX_ROWS_OF_REQUEST,
  READINESS_REPLY_BYTES,
} from './reply-bounds.ts';

/** What the endpoint's model takes, as its configuration says. */
export interface Negotiated extends TensorLayout {
  /** Most rows in one request; 0: the model does not batch, and tensors have no batch dimension. */
  readonly maxBatchSize: number;
  /** How many requests the server can work on at the same time, 1 or more. */
  readonly instances: number;
  /** Which of IMAGE and AUDIO it declares. */
  readonly mediaInputs: ReadonlySet<string>;
}

type DeclaredTensor = readonly [name: string, dataType: string, dims: readonly number[]];

/** The inputs no guard can do without, and those of images and audio, which a guard for texts may lack. */
const NEEDED_INPUTS: readonly DeclaredTensor[] = [
  ['REQUEST_TYPE', 'TYPE_STRING', [1]],
  ['MODALITY', 'TYPE_STRING', [1]],
  ['TEXT', 'TYPE_STRING', [1]],
  ['RESPONSE_TEXT', 'TYPE_STRING', [1]],
  ['SESSION_ID', 'TYPE_STRING', [1]],
  ['MESSAGES', 'TYPE_STRING', [-1, 2]],
  ['CACHE_WRITE', 'TYPE_BOOL', [1]],
];

const MEDIA_INPUTS: readonly DeclaredTensor[] = [
  ['IMAGE', 'TYPE_STRING', [1]],
  ['AUDIO', 'TYPE_STRING', [1]],
];
const INPUTS = [...NEEDED_INPUTS, ...MEDIA_INPUTS];

/** The outputs no verdict can do without, and those that may be missing. */
const NEEDED_OUTPUTS: readonly DeclaredTensor[] = [
  ['SCORE', 'TYPE_FP32', [1]],
  ['FLAGGED', 'TYPE_BOOL', [1]],
];
const OTHER_OUTPUTS: readonly DeclaredTensor[] = [
  ['SUBCATEGORY_SCORES', 'TYPE_FP32', [CATEGORY_COUNT]],
  ['SUBCATEGORY_FLAGS', 'TYPE_BOOL', [CATEGORY_COUNT]],
  ['CACHE_USAGE', 'TYPE_INT32', [CACHE_USAGE_WIDTH]],
];

/**
 * Asks an endpoint whether server and model are ready, and how the model wants its tensors. Throws `NotUsable`:
 * fatal when the model is unknown to a server that is ready, the key is refused, or a tensor is not as the
 * contract has it.
 */
export async function negotiate(channel: GuardChannel, options: CallOptions): Promise<Negotiated> {
  try {
    const server = await channel.call('ServerReady', {}, READINESS_REPLY_BYTES, options);
    if (!server.ready) throw new NotUsable('not ready', false);
    const model = await channel.call('ModelReady', { name: MODEL_NAME }, READINESS_REPLY_BYTES, options);
    if (!model.ready) throw new NotUsable('not ready', false, `its model ${MODEL_NAME} is not ready`);
    const { config } = await channel.call('ModelConfig', { name: MODEL_NAME }, CONFIG_REPLY_BYTES, options);
    if (config === null) throw new NotUsable('not a guard', true, 'it answers without a model configuration');
    return readConfig(config);
  } catch (error) {
    throw notUsable(error, options);
  }
}

/** Longest version of a model that is believed; Triton's are whole numbers. */
const MAX_MODEL_VERSION = 256;

/** Asks which model is deployed. Throws `NotUsable`, or `CallError` when the guard was merely busy. */
export async function readVersion(
  channel: GuardChannel,
  layout: TensorLayout,
  options: CallOptions,
): Promise<Reading> {
  const reply = await channel.call('ModelInfer', encodeVersionRequest(layout), MAX_REPLY_BYTES, options);
  const fingerprint = decodeVersionReply(reply);
  const modelVersion = reply.model_version;
  if (fingerprint === null || modelVersion.length > MAX_MODEL_VERSION) {
    throw new NotUsable('version not readable', true, 'its version reply holds no artifact hashes');
  }
  return { fingerprint, modelVersion };
}

function readConfig(config: WireModelConfig): Negotiated {
  const mismatch =
    config.input.map((input) => tensorMismatch('input', input, INPUTS)).find(Boolean) ??
    missing('input', NEEDED_INPUTS, config.input) ??
    missing('output', NEEDED_OUTPUTS, config.output) ??
    config.output
      .map((output) => tensorMismatch('output', output, [...NEEDED_OUTPUTS, ...OTHER_OUTPUTS]))
      .find(Boolean) ??
    config.input
      .filter((input) => !input.optional && !INPUTS.some(([name]) => name === input.name))
      .map((input) => `input ${plainName(input.name)} is required`)[0] ??
    (config.model_transaction_policy?.decoupled === true ? 'it answers in streams only' : undefined);
  if (mismatch !== undefined) throw new NotUsable('not a guard', true, `tensor mismatch: ${mismatch}`);
  const instances = config.instance_group.reduce((sum, group) => sum + Math.max(1, group.count), 0);
  return {
    maxBatchSize: Math.min(MAX_ROWS_OF_REQUEST, Math.max(0, config.max_batch_size)),
    batched: config.max_batch_size > 0,
    instances: Math.max(1, instances),
    mediaInputs: new Set(
      MEDIA_INPUTS.map(([name]) => name).filter((name) => config.input.some((input) => input.name === name)),
    ),
  };
}

function missing(
  side: string,
  needed: readonly DeclaredTensor[],
  declared: readonly { readonly name: string }[],
): string | undefined {
  const absent = needed.find(([name]) => !declared.some((tensor) => tensor.name === name));
  return absent && `${side} ${absent[0]} is missing`;
}

function tensorMismatch(
  side: string,
  declared: { readonly name: string; readonly data_type: string; readonly dims: readonly number[] },
  known: readonly DeclaredTensor[],
): string | undefined {
  const expected = known.find(([name]) => name === declared.name);
  if (expected === undefined) return undefined;
  const [name, dataType, dims] = expected;
  if (declared.data_type !== dataType) return `${side} ${name} is not ${dataType}`;
  const fits =
    declared.dims.length === dims.length &&
    dims.every((size, axis) => declared.dims[axis] === size || declared.dims[axis] === -1);
  return fits ? undefined : `${side} ${name} does not have the shape [${dims.join(', ')}]`;
}

/** A tensor's name as far as it can be shown: names come from the server and may be anything. */
function plainName(name: string): string {
  return /^\w{1,64}$/.test(name) ? name : '(unprintable)';
}
