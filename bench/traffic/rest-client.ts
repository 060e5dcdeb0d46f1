import { Agent, request as httpRequest } from 'node:http';
import { encodeFloats } from '../../src/guard/tensors/raw.ts';
import { MAX_ANSWER_MS } from './answer-time.ts';

/** A client of the REST API of a guard, with its own connection. */
export class RestClient {
  readonly #url: URL;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });

  /** `address` has the form `http://host:port`. */
  constructor(address: string) {
    this.#url = new URL('/v1/moderations/text', address);
  }

  /** The score of a text as the contents of a SCORE tensor, in hexadecimal; otherwise the reply, shortened. */
  score(text: string): Promise<string> {
    const body = Buffer.from(JSON.stringify({ text }));
    return new Promise((resolve) => {
      const headers = { 'content-type': 'application/json', 'content-length': body.length };
      const options = { method: 'POST', agent: this.#agent, timeout: MAX_ANSWER_MS, headers };
      const sent = httpRequest(this.#url, options, (response) => {
        let reply = '';
        response.setEncoding('utf8').on('data', (part: string) => (reply += part));
        response.on('error', ({ message }) => resolve(message));
        response.on('end', () => resolve(response.statusCode === 200 ? scoreIn(reply) : reply.slice(0, 200)));
      });
      sent.on('error', ({ message }) => resolve(message));
      sent.on('timeout', () => sent.destroy(new Error('no reply in time')));
      sent.end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

function scoreIn(reply: string): string {
  const { score } = JSON.parse(reply) as { readonly score: number };
  return encodeFloats([score]).toString('hex');
}
