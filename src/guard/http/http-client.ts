import {
  type AgentOptions,
  type ClientRequest,
  Agent as HttpAgent,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as httpRequest,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { CallError } from '../protocol/call-error.ts';
import type { CallOptions, Credentials } from '../protocol/connection.ts';
import type { BaseAddress } from '../protocol/address.ts';
import { connectionFailed } from '../faults/classify.ts';

/** Idle timeout of a kept connection, in milliseconds: shorter than that of most servers, which could hit a new request. */
const IDLE_MS = 1500;

export interface HttpBody {
  readonly contentType: string;
  readonly chunks: readonly Buffer[];
}

interface HttpRequest {
  readonly method: 'GET' | 'POST';
  /** Below the base URL, with a leading slash. */
  readonly path: string;
  /** Besides those of the connection and of the body. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: HttpBody;
  /** A longer reply has no body. */
  readonly maxReplyBytes: number;
}

export interface HttpReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Null when it is too long. */
  readonly body: Buffer | null;
}

/**
 * Keep-alive connections to one host, with the key for it. Does not follow redirects or use proxies, so that the key and
 * the content go nowhere else.
 */
export class HttpClient {
  readonly #base: BaseAddress;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #agent: HttpAgent;
  /** Opens a new connection per request. */
  readonly #freshAgent: HttpAgent;

  /** Does not connect before the first request. */
  constructor(base: BaseAddress, { token, tls }: Credentials, maxConnections: number) {
    this.#base = base;
    this.#headers = {
      accept: 'application/json',
      'accept-encoding': 'identity',
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    };
    const agent = (options: AgentOptions): HttpAgent =>
      base.secure ? new HttpsAgent({ ...options, ...tls }) : new HttpAgent(options);
    this.#agent = agent({ keepAlive: true, maxSockets: maxConnections, timeout: IDLE_MS });
    this.#freshAgent = agent({ keepAlive: false, maxSockets: maxConnections });
  }

  /**
   * Sends a request. Retries once on a new connection when the server closed a kept one without answering. Rejects with
   * `CallError` without a reply, and with the signal's reason when aborted.
   */
  send(request: HttpRequest, { timeoutMs, signal }: CallOptions): Promise<HttpReply> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason as Error);
        return;
      }
      let sent: ClientRequest;
      let over = false;
      const settle = (): void => {
        over = true;
        clearTimeout(timer);
        signal.removeEventListener('abort', abort);
      };
      // The first reason counts; errors caused by destroying the request are ignored.
      const fail = (error: Error): void => {
        settle();
        reject(error);
        sent.destroy();
      };
      const abort = (): void => fail(signal.reason as Error);
      const timer = setTimeout(() => {
        fail(new CallError('no answer in time', { kind: 'attempt', code: 'TIMEOUT' }));
      }, timeoutMs);
      signal.addEventListener('abort', abort, { once: true });
      const send = (agent: HttpAgent): void => {
        const current = this.#open(request, agent);
        sent = current;
        let readBefore = 0;
        current.once('socket', (socket) => (readBefore = socket.bytesRead));
        const lost = (error: Error): void => {
          if (over) return;
          const unseen = current.reusedSocket && current.socket?.bytesRead === readBefore;
          if (unseen && isClosed(error)) send(this.#freshAgent);
          else fail(connectionFailed(error));
        };
        current.on('error', lost);
        current.on('response', (response) => {
          // A guard may answer before it has read the whole body: from here on only errors of the response count.
          current.off('error', lost).on('error', () => {});
          readBody(response, request.maxReplyBytes).then(
            (bytes) => {
              settle();
              if (bytes === null || !current.writableFinished) current.destroy();
              resolve({
                status: response.statusCode!,
                headers: response.headers,
                body: bytes,
              });
            },
            (error: Error) => fail(connectionFailed(error)),
          );
        });
        for (const chunk of request.body?.chunks ?? []) current.write(chunk);
        current.end();
      };
      send(this.#agent);
    });
  }

  #open({ method, path, headers, body }: HttpRequest, agent: HttpAgent): ClientRequest {
    const { secure, host, port, path: base } = this.#base;
    return (secure ? httpsRequest : httpRequest)({
      host,
      port,
      path: `${base}${path}`,
      method,
      agent,
      headers: { ...this.#headers, ...headers, ...(body === undefined ? {} : bodyHeaders(body)) },
    });
  }

  /** Closes all connections. */
  close(): void {
    this.#agent.destroy();
    this.#freshAgent.destroy();
  }
}

function bodyHeaders({ contentType, chunks }: HttpBody): Record<string, string | number> {
  const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  return { 'content-type': contentType, 'content-length': length };
}

/** The body; null when it is too large. Rejects when the connection ends early. */
async function readBody(response: IncomingMessage, maxBytes: number): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Whether the server closed the connection. */
function isClosed(error: Error): boolean {
  return 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
}
