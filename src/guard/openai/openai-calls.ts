import { httpFailed, retryAfterMs } from '../faults/classify.ts';
import { UNKNOWN_MODEL } from '../faults/fault-table.ts';
import type { HttpClient, HttpReply } from '../http/http-client.ts';
import { CallError } from '../protocol/call-error.ts';
import type { CallOptions } from '../protocol/connection.ts';
import { parseReply } from '../protocol/parse-reply.ts';

/**
 * Max size of a reply, in bytes: the reply to a list of 32 texts has 50 KB, an answer with 20 alternatives per token
 * less.
 */
const MAX_REPLY_BYTES = 1024 * 1024;

/** Max bytes of an error's body to examine. */
const MAX_TEXT = 4096;

/**
 * Messages of servers about text beyond the model's context: OpenAI and vLLM, SGLang, llama.cpp, TGI. In lower case.
 */
const TOO_LONG = [
  'context_length_exceeded',
  'maximum context length',
  'context length',
  'context size',
  'max_model_len',
  'must have less than',
];

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

/** Classifies an error reply. Its text determines the class of the fault, and is used nowhere else. */
function openAiFailed({ status, headers, body }: HttpReply): CallError {
  const text = (body?.toString('utf8', 0, MAX_TEXT) ?? '').trimStart().toLowerCase();
  const answer = `HTTP status ${status}`;
  if ([400, 413, 422].includes(status) && TOO_LONG.some((part) => text.includes(part)))
    return new CallError(answer, { kind: 'refused', code: 'SEQUENCE_OVERFLOW', named: true });
  // Frameworks and proxies answer for a missing path, without the API's `{"error": …}` or `{"object": "error"}`.
  if (status === 404 && text.startsWith('{') && text.includes('"error"'))
    return new CallError(answer, UNKNOWN_MODEL);
  if (status === 429) {
    // Waiting does not help if the account has no credit, or the request alone exceeds a limit on tokens.
    if (text.includes('insufficient_quota'))
      return new CallError(answer, { kind: 'barred', reason: 'not authorised', fatal: true });
    if (isTooLarge(text)) return new CallError(answer, { kind: 'too-large' });
    return new CallError(answer, { kind: 'rate', retryAfterMs: retryAfterMs(headers['retry-after']) });
  }
  return httpFailed({ status, headers, body, about: 'text' });
}

function isTooLarge(text: string): boolean {
  if (text.includes('request too large')) return true;
  const [, limit, requested] = /limit:? (\d{1,12}), requested:? (\d{1,12})/.exec(text) ?? [];
  return limit !== undefined && Number(requested) > Number(limit);
}
