import {
  type AgentOptions,
  type ClientRequest,
  Agent as HttpAgent,
  type IncomingMessage,
  request as httpRequest,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { CallError } from '../protocol/call-error.ts';
import type { CallOptions } from '../protocol/connection.ts';
import type { BaseAddress } from './base-address.ts';
import { connectionFault } from './http-fault.ts';

/** Longest reply that is read, in bytes: a verdict takes a few hundred. */
const MAX_REPLY_BYTES = 256 * 1024;
/** A connection idle for so long is closed: well before most servers close it, which could meet the next request. */
const IDLE_MS = 1500;

export interface HttpBody {
  readonly contentType: string;
  readonly chunks: readonly Buffer[];
}

export interface HttpReply {
  readonly status: number;
  readonly contentType: string;
  /** As sent; null without one. */
  readonly retryAfter: string | null;
  /** Null when it is longer than a guard's reply can be. */
  readonly body: Buffer | null;
}

/**
 * Keep-alive connections to one host, and a key for that host. Redirects are not followed and proxies are not used,
 * so that the key and the content go nowhere else.
 */
export class HttpClient {
  readonly #base: BaseAddress;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #agent: HttpAgent;
  /** Its connections serve one request each. */
  readonly #freshAgent: HttpAgent;

  /** Nothing is connected until the first request. */
  constructor(base: BaseAddress, key: string | null, maxConnections: number) {
    this.#base = base;
    this.#headers = {
      accept: 'application/json',
      'accept-encoding': 'identity',
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
    };
    const agent = (options: AgentOptions): HttpAgent =>
      base.secure ? new HttpsAgent(options) : new HttpAgent(options);
    this.#agent = agent({ keepAlive: true, maxSockets: maxConnections, timeout: IDLE_MS });
    this.#freshAgent = agent({ keepAlive: false, maxSockets: maxConnections });
  }

  /**
   * Posts below the base address; once more when the server had closed the kept connection meanwhile. Rejects with `CallError`
   * without a reply, and with the signal's reason when aborted.
   */
  post(path: string, body: HttpBody, { timeoutMs, signal }: CallOptions): Promise<HttpReply> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason as Error);
        return;
      }
      let request: ClientRequest;
      let over = false;
      const settle = (): void => {
        over = true;
        clearTimeout(timer);
        signal.removeEventListener('abort', abort);
      };
      // The first reason to end the request is the one that counts; what follows from ending it is not looked at.
      const fail = (error: Error): void => {
        settle();
        reject(error);
        request.destroy();
      };
      const abort = (): void => fail(signal.reason as Error);
      const timer = setTimeout(() => {
        fail(new CallError('no answer in time', { kind: 'attempt', code: 'TIMEOUT' }));
      }, timeoutMs);
      signal.addEventListener('abort', abort, { once: true });
      const send = (agent: HttpAgent): void => {
        const sent = this.#request(path, body, agent);
        request = sent;
        let readBefore = 0;
        sent.once('socket', (socket) => (readBefore = socket.bytesRead));
        const lost = (error: Error): void => {
          if (over) return;
          const unseen = sent.reusedSocket && sent.socket?.bytesRead === readBefore;
          if (unseen && isClosed(error)) send(this.#freshAgent);
          else fail(connectionLost(error));
        };
        sent.on('error', lost);
        sent.on('response', (response) => {
          // From here on the response tells how it ends: a guard may answer before it has taken in all of the body.
          sent.off('error', lost).on('error', () => {});
          readBody(response).then(
            (bytes) => {
              settle();
              if (bytes === null || !sent.writableFinished) sent.destroy();
              resolve({
                status: response.statusCode!,
                contentType: response.headers['content-type'] ?? '',
                retryAfter: response.headers['retry-after'] ?? null,
                body: bytes,
              });
            },
            (error: Error) => fail(connectionLost(error)),
          );
        });
        for (const chunk of body.chunks) sent.write(chunk);
        sent.end();
      };
      send(this.#agent);
    });
  }

  #request(path: string, { contentType, chunks }: HttpBody, agent: HttpAgent): ClientRequest {
    const { secure, host, port, path: base } = this.#base;
    return (secure ? httpsRequest : httpRequest)({
      host,
      port,
      path: `${base}${path}`,
      method: 'POST',
      agent,
      headers: {
        ...this.#headers,
        'content-type': contentType,
        'content-length': chunks.reduce((sum, chunk) => sum + chunk.length, 0),
      },
    });
  }

  /** Drops every connection. */
  close(): void {
    this.#agent.destroy();
    this.#freshAgent.destroy();
  }
}

/** The whole body, or null when it is too long; rejects when the connection ends before it does. */
async function readBody(response: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_REPLY_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Whether the server closed the connection: one that had been kept may have been closed before the request came. */
function isClosed(error: Error): boolean {
  return 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
}

/** The foreign error is not kept: what it says of the connection is in the fault. */
function connectionLost(error: Error): CallError {
  const code = 'code' in error ? String(error.code) : '';
  return new CallError('the connection failed', connectionFault(code));
}
