/** A server's listening, whatever its transport. */
interface Listening {
  /** Binds a port and returns it. */
  open(port: number): Promise<number>;
  /** Drops every connection and stops listening at once. */
  drop(): void;
}

/** Until the port is tried again: another process may hold it for a moment. */
const RETRY_MS = 250;

/** A scripted outage: the server stops listening, and later listens on the same port again. */
export class Outage {
  #listener: Listening | null = null;
  #port = 0;
  #timer: NodeJS.Timeout | undefined;
  /** An outage requested before the listener was attached. */
  #pending: { readonly forMs: number | undefined } | null = null;

  attach(listener: Listening, port: number): void {
    this.#listener = listener;
    this.#port = port;
    if (this.#pending !== null) this.begin(this.#pending.forMs);
  }

  /** Drops every connection and stops listening for `forMs` or until `listenAgain`. */
  begin(forMs: number | undefined): void {
    if (this.#listener === null) {
      this.#pending = { forMs };
      return;
    }
    this.#listener.drop();
    clearTimeout(this.#timer);
    if (forMs !== undefined) this.#timer = setTimeout(() => this.#listenOrRetry(), forMs);
  }

  /** Failure('usage') when another process has taken the port meanwhile. */
  async listenAgain(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#listener?.open(this.#port);
  }

  /** Never listens again. */
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
