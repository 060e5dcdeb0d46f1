import { CATEGORY_COUNT } from '../../domain/taxonomy.ts';
import type { CallOptions, Reading } from '../protocol/connection.ts';
import { NotUsable, notUsable } from '../protocol/not-usable.ts';
import { encodeVersionRequest, type TensorLayout } from '../tensors/encode-request.ts';
import { CACHE_USAGE_WIDTH, MODEL_NAME, type WireModelConfig } from '../tensors/protocol.ts';
import { decodeVersionReply } from '../tensors/version-reply.ts';
import type { GuardChannel } from './channel.ts';
import {
  MAX_CONFIG_REPLY_BYTES,
  MAX_REPLY_BYTES,
  MAX_ROWS_PER_REQUEST,
  MAX_READINESS_REPLY_BYTES,
} from './reply-bounds.ts';

/** What the model takes, from its configuration (ModelConfig of Triton's model configuration extension). */
interface Negotiated extends TensorLayout {
  /** Max rows per request. 0: the model does not batch, and tensors have no batch dimension. */
  readonly maxBatchSize: number;
  /** Model instances, 1 or more: how many executions the server can run at a time. */
  readonly instances: number;
  /** Which of the inputs IMAGE and AUDIO it declares. */
  readonly mediaInputs: ReadonlySet<string>;
}

type DeclaredTensor = readonly [name: string, dataType: string, dims: readonly number[]];

/** Inputs every guard must declare; IMAGE and AUDIO may be missing in a guard for texts. */
const REQUIRED_INPUTS: readonly DeclaredTensor[] = [
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
const INPUTS = [...REQUIRED_INPUTS, ...MEDIA_INPUTS];

/** Outputs every verdict needs; the optional ones may be missing. */
const REQUIRED_OUTPUTS: readonly DeclaredTensor[] = [
  ['SCORE', 'TYPE_FP32', [1]],
  ['FLAGGED', 'TYPE_BOOL', [1]],
];
const OPTIONAL_OUTPUTS: readonly DeclaredTensor[] = [
  ['SUBCATEGORY_SCORES', 'TYPE_FP32', [CATEGORY_COUNT]],
  ['SUBCATEGORY_FLAGS', 'TYPE_BOOL', [CATEGORY_COUNT]],
  ['CACHE_USAGE', 'TYPE_INT32', [CACHE_USAGE_WIDTH]],
];

/**
 * Asks an endpoint whether server and model are ready, and how the model declares its tensors. Throws `NotUsable`: fatal
 * when a ready server does not know the model, the key is refused, or a tensor does not match the contract.
 */
export async function negotiate(channel: GuardChannel, options: CallOptions): Promise<Negotiated> {
  try {
    const server = await channel.call('ServerReady', {}, MAX_READINESS_REPLY_BYTES, options);
    if (!server.ready) throw new NotUsable('not ready', false);
    const model = await channel.call('ModelReady', { name: MODEL_NAME }, MAX_READINESS_REPLY_BYTES, options);
    if (!model.ready) throw new NotUsable('not ready', false, `its model ${MODEL_NAME} is not ready`);
    const { config } = await channel.call(
      'ModelConfig',
      { name: MODEL_NAME },
      MAX_CONFIG_REPLY_BYTES,
      options,
    );
    if (config === null) throw new NotUsable('not a guard', true, 'it answers without a model configuration');
    return readConfig(config);
  } catch (error) {
    throw notUsable(error, options);
  }
}

/** Max length of a model version. Triton's are integers. */
const MAX_MODEL_VERSION = 256;

/** Asks which model is deployed. Throws `NotUsable` when the reply has no version, and `CallError` when the call fails. */
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
    missing('input', REQUIRED_INPUTS, config.input) ??
    missing('output', REQUIRED_OUTPUTS, config.output) ??
    config.output
      .map((output) => tensorMismatch('output', output, [...REQUIRED_OUTPUTS, ...OPTIONAL_OUTPUTS]))
      .find(Boolean) ??
    config.input
      .filter((input) => !input.optional && !INPUTS.some(([name]) => name === input.name))
      .map((input) => `input ${plainName(input.name)} is required`)[0] ??
    (config.model_transaction_policy?.decoupled === true
      ? 'its model is decoupled: it answers in streams only'
      : undefined);
  if (mismatch !== undefined) throw new NotUsable('not a guard', true, `tensor mismatch: ${mismatch}`);
  const instances = config.instance_group.reduce((sum, group) => sum + Math.max(1, group.count), 0);
  return {
    maxBatchSize: Math.min(MAX_ROWS_PER_REQUEST, Math.max(0, config.max_batch_size)),
    batched: config.max_batch_size > 0,
    instances: Math.max(1, instances),
    mediaInputs: new Set(
      MEDIA_INPUTS.map(([name]) => name).filter((name) => config.input.some((input) => input.name === name)),
    ),
  };
}

function missing(
  side: string,
  required: readonly DeclaredTensor[],
  declared: readonly { readonly name: string }[],
): string | undefined {
  const absent = required.find(([name]) => !declared.some((tensor) => tensor.name === name));
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

/** A tensor's name, safe to print: names come from the server and can be anything. */
function plainName(name: string): string {
  return /^\w{1,64}$/.test(name) ? name : '(unprintable)';
}
