import { setImmediate } from 'node:timers/promises';
import type { IncomingHttpHeaders } from 'node:http';
import type * as Undici from 'undici';
import type { ClientTls } from '../../config/keys/guard-tls.ts';
import { CallError } from '../protocol/call-error.ts';
import type { CallOptions, Credentials } from '../protocol/connection.ts';
import type { BaseAddress } from '../protocol/address.ts';
import { connectionFailed, unreadableReply } from '../faults/classify.ts';

/**
 * Idle timeout of a kept connection, in milliseconds. It is shorter than that of most servers, which could hit a new
 * request.
 */
const IDLE_MS = 1500;

export interface HttpBody {
  readonly contentType: string;
  readonly chunks: readonly Buffer[];
}

interface HttpRequest {
  readonly method: 'GET' | 'POST';
  /** Path below the base URL, with a leading slash. */
  readonly path: string;
  /** Additional headers besides those of the connection and of the body. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: HttpBody;
  /** A longer reply is returned without its body. */
  readonly maxReplyBytes: number;
}

/** Keep-alive connections, and a second set that opens a new connection per request. */
interface Connections {
  readonly undici: typeof Undici;
  readonly kept: Undici.Pool;
  readonly fresh: Undici.Pool;
}

export interface HttpReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Null when the body is too long. */
  readonly body: Buffer | null;
}

/**
 * Keep-alive connections to one host, with its key. Does not follow redirects or use proxies: the key and the content
 * go nowhere else.
 */
export class HttpClient {
  readonly #path: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #open: () => Promise<Connections>;
  #opened: Promise<Connections> | null = null;

  /** Does not connect before the first request. */
  constructor(base: BaseAddress, { token, tls }: Credentials, maxConnections: number) {
    this.#path = base.path;
    this.#headers = {
      accept: 'application/json',
      'accept-encoding': 'identity',
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    };
    const host = base.host.includes(':') ? `[${base.host}]` : base.host;
    const origin = `${base.secure ? 'https' : 'http'}://${host}:${base.port}`;
    this.#open = async () => {
      // Loaded late: most runs have no guard over HTTP.
      const undici = await import('undici');
      const options: Undici.Pool.Options = {
        connections: maxConnections,
        // The timeout of the call covers everything.
        headersTimeout: 0,
        bodyTimeout: 0,
        keepAliveTimeout: IDLE_MS,
        keepAliveMaxTimeout: IDLE_MS,
        connect: connector(undici, base.secure ? tls : {}),
      };
      const kept = new undici.Pool(origin, { ...options, pipelining: 1 });
      const fresh = new undici.Pool(origin, { ...options, pipelining: 0 });
      return { undici, kept, fresh };
    };
  }

  /**
   * Sends a request. Retries once on a new connection when the server closed a kept one without answering: it has not
   * seen the request. Rejects with `CallError` without a reply, and with the signal's reason when aborted.
   */
  async send(request: HttpRequest, { timeoutMs, signal }: CallOptions): Promise<HttpReply> {
    signal.throwIfAborted();
    const { undici, kept, fresh } = await (this.#opened ??= this.#open());
    signal.throwIfAborted();
    const ended = new AbortController();
    const abort = (): void => ended.abort(signal.reason);
    const timer = setTimeout(() => {
      ended.abort(new CallError('no answer in time', { kind: 'attempt', code: 'TIMEOUT' }));
    }, timeoutMs);
    signal.addEventListener('abort', abort, { once: true });
    try {
      const reply = await this.#attempt(kept, request, ended.signal).catch((error: unknown) => {
        if (ended.signal.aborted || !isUnseen(error, undici)) throw error;
        return this.#attempt(fresh, request, ended.signal);
      });
      const body = await readBody(reply, request.maxReplyBytes);
      return { status: reply.statusCode, headers: reply.headers, body };
    } catch (error) {
      if (ended.signal.aborted) throw ended.signal.reason;
      throw error instanceof undici.errors.HTTPParserError ? unreadableReply() : connectionFailed(error);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    }
  }

  /** Resolves with the head of the reply. */
  async #attempt(
    pool: Undici.Pool,
    { method, path, headers, body }: HttpRequest,
    signal: AbortSignal,
  ): Promise<Undici.Dispatcher.ResponseData> {
    // Reads data that a kept connection received before the request: an unsolicited reply closes it, and is never taken
    // for this request's reply.
    await setImmediate(undefined, { signal });
    return pool.request({
      method,
      path: `${this.#path}${path}`,
      headers: { ...this.#headers, ...headers, ...(body && { 'content-type': body.contentType }) },
      body: body === undefined ? null : Buffer.concat(body.chunks),
      signal,
    });
  }

  /** Closes all connections; no requests may be sent afterwards. */
  close(): void {
    void (this.#opened ??= this.#open()).then(({ kept, fresh }) =>
      Promise.all([kept.destroy(), fresh.destroy()]),
    );
  }
}

/** Statuses of a gateway whose server is down, and of a server that is not ready. */
const NO_SERVER: ReadonlySet<number> = new Set([502, 503, 504]);
/** Max size of a reply that only shows that a server answers, in bytes. */
const MAX_ANSWER_BYTES = 64 * 1024;

/**
 * Whether a server without a readiness check answers at a path. A GET judges nothing and costs nothing: any answer of
 * the server counts, such as 405. Rejects with `CallError` when nothing answers.
 */
export async function answers(client: HttpClient, path: string, options: CallOptions): Promise<boolean> {
  const { status } = await client.send({ method: 'GET', path, maxReplyBytes: MAX_ANSWER_BYTES }, options);
  return !NO_SERVER.has(status);
}

/**
 * Makes connections report their first error. A server that rejects a certificate sends an alert and then closes the
 * connection, which would otherwise be reported in place of the alert.
 */
function connector(undici: typeof Undici, tls: ClientTls): Undici.buildConnector.connector {
  const connect = undici.buildConnector({ ...tls, timeout: 0 });
  return (options, connected) => {
    connect(options, (...[error, socket]) => {
      socket?.prependOnceListener('error', (first: Error) => socket.destroy(first));
      connected(...([error, socket] as Parameters<Undici.buildConnector.Callback>));
    });
  };
}

/** Reads the body; null when it is too large. Rejects when the connection ends early. */
async function readBody({ body }: Undici.Dispatcher.ResponseData, maxBytes: number): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    // Leaving the loop destroys the body, and with it the connection.
    if (bytes > maxBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/**
 * Whether a connection ended before it began to reply, and may have been a kept one that the server had closed. A
 * connection that has received nothing is new: the server may have ended it because of the request.
 */
function isUnseen(error: unknown, { errors }: typeof Undici): boolean {
  if (error instanceof errors.SocketError) return (error.socket?.bytesRead ?? 0) > 0;
  const code = error instanceof Error && 'code' in error ? error.code : '';
  return code === 'ECONNRESET' || code === 'EPIPE';
}
