import {
  type ClientRequest,
  Agent as HttpAgent,
  type IncomingMessage,
  request as httpRequest,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { CallError } from '../call-error.ts';
import type { CallOptions } from '../connection.ts';
import type { BaseAddress } from './base-address.ts';
import { connectionFault } from './http-fault.ts';

/** Longest reply that is read, in bytes: a verdict takes a few hundred. */
const MAX_REPLY_BYTES = 256 * 1024;
/** A connection idle for so long is closed: well before servers close it, which could meet the next request. */
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

  /** Nothing is connected until the first request. */
  constructor(base: BaseAddress, key: string | null, maxConnections: number) {
    this.#base = base;
    this.#headers = {
      accept: 'application/json',
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
    };
    const options = { keepAlive: true, maxSockets: maxConnections, timeout: IDLE_MS };
    this.#agent = base.secure ? new HttpsAgent(options) : new HttpAgent(options);
  }

  /** Posts below the base address. Rejects with `CallError` without a reply, and with the signal's reason when aborted. */
  post(path: string, body: HttpBody, { timeoutMs, signal }: CallOptions): Promise<HttpReply> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason as Error);
        return;
      }
      const request = this.#request(path, body);
      const settle = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', abort);
      };
      // The first reason to end the request is the one that counts; what follows from ending it is not looked at.
      const fail = (error: Error): void => {
        settle();
        reject(error);
        request.destroy();
      };
      const lost = (error: Error): void => fail(connectionLost(error));
      const abort = (): void => fail(signal.reason as Error);
      const timer = setTimeout(() => {
        fail(new CallError('no answer in time', { kind: 'attempt', code: 'TIMEOUT' }));
      }, timeoutMs);
      signal.addEventListener('abort', abort, { once: true });
      request.on('error', lost);
      request.on('response', (response) => {
        // From here on the response tells how it ends: a guard may answer before it has taken in all of the body.
        request.off('error', lost).on('error', () => {});
        readBody(response).then((bytes) => {
          settle();
          if (bytes === null || !request.writableFinished) request.destroy();
          resolve({
            status: response.statusCode!,
            contentType: response.headers['content-type'] ?? '',
            retryAfter: response.headers['retry-after'] ?? null,
            body: bytes,
          });
        }, lost);
      });
      for (const chunk of body.chunks) request.write(chunk);
      request.end();
    });
  }

  #request(path: string, { contentType, chunks }: HttpBody): ClientRequest {
    const { secure, host, port, path: base } = this.#base;
    return (secure ? httpsRequest : httpRequest)({
      host,
      port,
      path: `${base}${path}`,
      method: 'POST',
      agent: this.#agent,
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

/** The foreign error is not kept: what it says of the connection is in the fault. */
function connectionLost(error: Error): CallError {
  const code = 'code' in error ? String(error.code) : '';
  return new CallError('the connection failed', connectionFault(code));
}
