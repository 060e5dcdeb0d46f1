import { HttpClient } from '../http/http-client.ts';
import { ChatGuard, MAX_IN_FLIGHT, takesOpenAi } from '../openai/chat-guard.ts';
import { ModerationsGuard } from '../openai/moderations-guard.ts';
import { type OpenAiAddress, parseOpenAiAddress } from '../openai/openai-address.ts';
import { OpenAiCalls } from '../openai/openai-calls.ts';
import type { Connection, OpenOptions, ReadyGuard } from '../protocol/connection.ts';
import type { ConnectOptions, Transport } from './transport.ts';

/** A safety model behind an OpenAI-compatible server, or OpenAI's moderation endpoint. */
export const OPENAI: Transport = {
  kind: 'openai',
  schemes: ['openai+http', 'openai+https'],
  tokenVariable: 'GUARD_API_KEY',
  unversioned: 'an OpenAI-compatible API',
  takes: takesOpenAi,
  hostOf: (endpoint) => parseOpenAiAddress(endpoint).base,
  connector: (endpoint) => {
    const address = parseOpenAiAddress(endpoint);
    return (options) => new OpenAiConnection(address, options);
  },
};

class OpenAiConnection implements Connection {
  readonly #address: OpenAiAddress;
  readonly #options: ConnectOptions;
  readonly #client: HttpClient;

  /** Does not connect before `open`. */
  constructor(address: OpenAiAddress, options: ConnectOptions) {
    this.#address = address;
    this.#options = options;
    this.#client = new HttpClient(address.base, options, MAX_IN_FLIGHT + 1);
  }

  open(options: OpenOptions): Promise<ReadyGuard> {
    const { model, family, isModerations } = this.#address;
    const calls = new OpenAiCalls(this.#client);
    if (isModerations) return new ModerationsGuard(calls, model).open(this.#client, options);
    const policy = this.#options.guardPolicy ?? null;
    return ChatGuard.open(calls, { model, family, policy }, options);
  }

  close(): void {
    this.#client.close();
  }
}
