import type { HttpClient } from '../http/http-client.ts';
import { parseReply } from '../protocol/parse-reply.ts';
import type { CallOptions } from '../protocol/connection.ts';
import { openAiFailed } from './openai-faults.ts';

/** Max size of a reply, in bytes: that to a list of 32 texts has 50 KB, an answer with 20 alternatives a token less. */
const MAX_REPLY_BYTES = 1024 * 1024;

/** Calls to an OpenAI-compatible server. They fail with `CallError`, or with the signal's reason. */
export class OpenAiCalls {
  readonly #client: HttpClient;

  constructor(client: HttpClient) {
    this.#client = client;
  }

  /** Returns the JSON of the reply, or null if it is too long or not JSON, such as a proxy's error page. */
  get(path: string, options: CallOptions): Promise<unknown> {
    return this.#send({ method: 'GET', path, maxReplyBytes: MAX_REPLY_BYTES }, options);
  }

  /** Like `get`, with a JSON body. */
  post(path: string, value: object, options: CallOptions): Promise<unknown> {
    const body = { contentType: 'application/json', chunks: [Buffer.from(JSON.stringify(value))] };
    return this.#send({ method: 'POST', path, body, maxReplyBytes: MAX_REPLY_BYTES }, options);
  }

  async #send(request: Parameters<HttpClient['send']>[0], options: CallOptions): Promise<unknown> {
    const reply = await this.#client.send(request, options);
    if (reply.status < 200 || reply.status > 299) throw openAiFailed(reply);
    return reply.body === null ? null : (parseReply(reply.body.toString('utf8')) ?? null);
  }
}
