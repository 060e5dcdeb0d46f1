import type { ServerResponse } from 'node:http';
import type { DashboardEvent } from '../api/runs.ts';

/** For browsers and proxies to know that the connection is alive, in milliseconds. */
const HEARTBEAT_MS = 15_000;

/** A client that has not taken an event by then is dropped, in milliseconds. */
const TAKEN_WITHIN_MS = 30_000;

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  // Asks a proxy not to collect events.
  'x-accel-buffering': 'no',
};

/** Server-sent events to one client. It holds at most one event that the client has not taken. */
export class EventStream {
  readonly #response: ServerResponse;
  readonly #heartbeat: NodeJS.Timeout;
  #isBusy = false;
  #isEnded = false;

  /** `headers`: further ones. */
  constructor(response: ServerResponse, headers: Readonly<Record<string, string>>) {
    this.#response = response;
    response.writeHead(200, { ...headers, ...HEADERS });
    response.flushHeaders();
    this.#heartbeat = setInterval(() => {
      if (!this.#isBusy) this.#write(':\n\n');
    }, HEARTBEAT_MS);
    response.once('close', () => clearInterval(this.#heartbeat));
  }

  /** Whether the client has not taken what it was sent: it gets the next event later, with all that changed by then. */
  get isBusy(): boolean {
    return this.#isBusy;
  }

  send({ kind, ...data }: DashboardEvent): void {
    this.#write(`event: ${kind}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  /** Ends the stream; a client that does not take what it was sent is dropped. Idempotent. */
  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    clearInterval(this.#heartbeat);
    this.#response.end();
    this.#dropUnlessTaken('close');
  }

  #write(text: string): void {
    // It stays open until the client has taken everything.
    if (this.#isEnded) return;
    if (this.#response.write(text)) return;
    this.#isBusy = true;
    this.#response.once('drain', () => (this.#isBusy = false));
    this.#dropUnlessTaken('drain');
  }

  #dropUnlessTaken(event: 'drain' | 'close'): void {
    const late = setTimeout(() => this.#response.destroy(), TAKEN_WITHIN_MS);
    this.#response.once(event, () => clearTimeout(late));
    this.#response.once('close', () => clearTimeout(late));
  }
}
