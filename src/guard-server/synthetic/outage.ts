import type { Listener } from '../grpc/listener.ts';

/** After which the port is tried again: another process may hold it for a moment. */
const RETRY_MS = 250;

/** A time in which nobody listens, and its end on the same port. */
export class Outage {
  #listener: Listener | null = null;
  #port = 0;
  #timer: NodeJS.Timeout | undefined;
  /** An outage that was asked for before there was a listener. */
  #pending: { readonly forMs: number | undefined } | null = null;

  attach(listener: Listener, port: number): void {
    this.#listener = listener;
    this.#port = port;
    if (this.#pending !== null) this.begin(this.#pending.forMs);
  }

  /** Drops every connection and stops listening, for `forMs` or until `listenAgain`. */
  begin(forMs: number | undefined): void {
    if (this.#listener === null) {
      this.#pending = { forMs };
      return;
    }
    this.#listener.drop();
    clearTimeout(this.#timer);
    if (forMs !== undefined) this.#timer = setTimeout(() => this.#listenOrRetry(), forMs);
  }

  /** Failure('usage') when somebody else has taken the port meanwhile. */
  async listenAgain(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#listener?.open(this.#port);
  }

  /** No listening again from here on. */
  end(): void {
    clearTimeout(this.#timer);
    this.#listener = null;
  }

  #listenOrRetry(): void {
    this.listenAgain().catch(() => {
      if (this.#listener !== null) this.#timer = setTimeout(() => this.#listenOrRetry(), RETRY_MS);
    });
  }
}
