import type { IncomingMessage, ServerResponse } from 'node:http';
import { type HttpServer, startHttpServer } from '../../http/http-server.ts';
import type { UpgradeHandler } from '../../http/upgrades.ts';
import { urlHost } from '../../http/url-host.ts';
import type { CallMemory } from '../service/call-memory.ts';
import type { GuardService } from '../service/guard-service.ts';
import type { NetworkLimits } from '../service/limits.ts';
import type { Answer } from './answer.ts';
import { readBody, RequestMemory } from './request-body.ts';
import { findRoute } from './routes.ts';
import { CLOSES, errorAnswer, HttpError } from './status.ts';

interface HttpListenerOptions {
  readonly service: GuardService;
  readonly host: string;
  /** Required of every request; null: no token is required. */
  readonly token: string | null;
  readonly limits: NetworkLimits;
  readonly room: CallMemory;
  /** How long `close` waits for open requests. */
  readonly closeGraceMs: number;
  /** Takes WebSocket handshakes. */
  readonly upgrade: UpgradeHandler;
}

/** Memory of an open request besides its body: up to 16 KiB of headers, and the objects around it. */
const REQUEST_BYTES = 24 * 1024;

/** Serves the guard over HTTP on a port, which it can release and bind again. */
export class HttpListener {
  readonly #options: HttpListenerOptions;
  #server: HttpServer | null = null;
  #isExiting = false;

  constructor(options: HttpListenerOptions) {
    this.#options = options;
  }

  /** Binds a port, 0 for a free one, and returns it. Failure('usage') when it cannot be bound. */
  async open(port: number): Promise<number> {
    const { host, token, limits, closeGraceMs, upgrade } = this.#options;
    this.#server = await startHttpServer({
      what: 'the guard',
      host,
      port,
      token,
      limits: {
        maxConnections: limits.connections,
        maxBodyBytes: limits.bodyBytes,
        headersTimeoutMs: limits.firstCallMs,
        requestTimeoutMs: limits.messageTimeoutMs,
        keepAliveMs: limits.idleMs,
        closeGraceMs,
      },
      handle: (request, response) => this.#handle(request, response),
      chunkedBodies: true,
      errorBody: (_status, error) => ({ error }),
      upgrade,
    });
    const { port: bound } = new URL(this.#server.origin);
    // Closed meanwhile, as a scripted outage may listen again at any time.
    if (this.#isExiting) this.drop();
    return Number(bound);
  }

  /** `http://host:port`. */
  address(port: number): string {
    return `http://${urlHost(this.#options.host)}:${port}`;
  }

  /** Answers new requests with 503 and waits for the open ones. */
  async close(): Promise<void> {
    this.#isExiting = true;
    await this.#server?.close();
  }

  /** Drops every connection and stops listening at once. */
  drop(): void {
    this.#server?.drop();
    this.#server = null;
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const memory = new RequestMemory(this.#options.room);
    response.once('close', () => memory.giveBack());
    let answer: Answer;
    try {
      answer = await this.#answer(request, response, memory);
    } catch (error) {
      answer = errorAnswer(error);
    }
    if (!response.destroyed) this.#send(answer, response);
  }

  async #answer(request: IncomingMessage, response: ServerResponse, memory: RequestMemory): Promise<Answer> {
    const { service, limits } = this.#options;
    if (this.#isExiting) throw new HttpError(503, 'the server is exiting', CLOSES);
    memory.take(REQUEST_BYTES);
    const { route, variables } = findRoute(request.method!, request.url!);
    return route.answer({
      service,
      headers: request.headers,
      path: (name) => variables.get(name) ?? '',
      body: () => readBody(request, limits.bodyBytes, memory),
      onClose: (withdraw) => response.once('close', withdraw),
    });
  }

  /** A client that does not read its reply would occupy the memory of its request forever. */
  #send({ status, headers, body }: Answer, response: ServerResponse): void {
    const timer = setTimeout(() => response.destroy(), this.#options.limits.messageTimeoutMs);
    response.once('close', () => clearTimeout(timer));
    response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body);
  }
}
