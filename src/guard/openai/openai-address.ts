import { Failure } from '../../domain/failure.ts';
import { familyOfModel, type GuardFamily, isGuardFamily } from '../../domain/guard/guard-family.ts';
import { type BaseAddress, type GuardEndpoint, parseBaseAddress } from '../protocol/address.ts';

const EXAMPLE = 'openai+http://host:8000?model=meta-llama/Llama-Guard-3-8B';

/** The moderation endpoint's model if the address does not name one. */
const DEFAULT_MODEL = 'omni-moderation-latest';

export interface OpenAiAddress {
  /** Before `/v1`. */
  readonly base: BaseAddress;
  readonly model: string;
  /** Null: to be told from the model's name. */
  readonly family: GuardFamily | null;
  /** Whether it is the moderation endpoint, and no chat model. */
  readonly isModerations: boolean;
}

/** `openai+http[s]://host:port/path?model=…&family=…`. Without a model: the moderation endpoint. Failure('usage') when malformed. */
export function parseOpenAiAddress({ name, address }: GuardEndpoint): OpenAiAddress {
  const [plain = '', query = ''] = address.split('?', 2);
  const base = parseBaseAddress({ name, address: plain }, EXAMPLE);
  const keys = new URLSearchParams(query);
  const family = keys.get('family');
  if (family !== null && !isGuardFamily(family))
    throw new Failure('usage', `guard ${name}: the address must look like ${EXAMPLE}`);
  const model = keys.get('model') ?? DEFAULT_MODEL;
  return { base, model, family, isModerations: (family ?? familyOfModel(model)) === 'moderations' };
}
