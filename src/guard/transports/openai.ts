import { Failure } from '../../domain/failure.ts';
import { familyOfModel, type GuardFamily, isGuardFamily } from '../../domain/guard/guard-family.ts';
import { MAX_IN_FLIGHT, openChatGuard, takesOpenAi } from '../openai/chat-guard.ts';
import { openModerations } from '../openai/moderations-guard.ts';
import { OpenAiCalls } from '../openai/openai-calls.ts';
import { type BaseAddress, type GuardEndpoint, parseBaseAddress } from '../protocol/address.ts';
import { connectHttp, type Transport } from './transport.ts';

const EXAMPLE = 'openai+http://host:8000?model=meta-llama/Llama-Guard-3-8B';

/** The moderation endpoint's model if the address does not name one. */
const DEFAULT_MODEL = 'omni-moderation-latest';

/** A safety model behind an OpenAI-compatible server, or OpenAI's moderation endpoint. */
export const OPENAI: Transport = {
  kind: 'openai',
  schemes: ['openai+http', 'openai+https'],
  tokenVariable: 'GUARD_API_KEY',
  unversioned: 'an OpenAI-compatible API',
  takes: takesOpenAi,
  hostOf: (endpoint) => parse(endpoint).base,
  connector: (endpoint) => {
    const { base, model, family } = parse(endpoint);
    return connectHttp(base, MAX_IN_FLIGHT + 1, (client, options, { guardPolicy: policy = null }) =>
      (family ?? familyOfModel(model)) === 'moderations'
        ? openModerations(client, model, options)
        : openChatGuard(new OpenAiCalls(client), { model, family, policy }, options),
    );
  },
};

interface OpenAiAddress {
  /** Base address before `/v1`. */
  readonly base: BaseAddress;
  readonly model: string;
  /** Null to derive it from the model's name. */
  readonly family: GuardFamily | null;
}

/** Parses `openai+http[s]://host:port/path?model=…&family=…`; without a model, it is the moderation endpoint. */
function parse({ name, address }: GuardEndpoint): OpenAiAddress {
  const [plain = '', query = ''] = address.split('?', 2);
  const base = parseBaseAddress({ name, address: plain }, EXAMPLE);
  const keys = new URLSearchParams(query);
  const family = keys.get('family');
  if (family !== null && !isGuardFamily(family))
    throw new Failure('usage', `guard ${name}: the address must look like ${EXAMPLE}`);
  return { base, model: keys.get('model') ?? DEFAULT_MODEL, family };
}
