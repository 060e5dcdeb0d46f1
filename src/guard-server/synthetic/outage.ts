/** A listening server, whatever its transport. */
interface Listening {
  /** Binds a port and returns it. */
  open(port: number): Promise<number>;
  /** Drops every connection and stops listening at once. */
  drop(): void;
}

/** Delay before the port is tried again: another process may hold it for a moment. */
const RETRY_MS = 250;

/** A scripted outage: the server stops listening on all its ports, and later listens on them again. */
export class Outage {
  readonly #listeners: { readonly listener: Listening; readonly port: number }[] = [];
  #timer: NodeJS.Timeout | undefined;
  /** An outage requested before a listener was attached. */
  #pending: { readonly forMs: number | undefined } | null = null;

  attach(listener: Listening, port: number): void {
    this.#listeners.push({ listener, port });
    if (this.#pending !== null) this.begin(this.#pending.forMs);
  }

  /** Drops every connection and stops listening for `forMs` or until `listenAgain`. */
  begin(forMs: number | undefined): void {
    if (this.#listeners.length === 0) {
      this.#pending = { forMs };
      return;
    }
    for (const { listener } of this.#listeners) listener.drop();
    clearTimeout(this.#timer);
    if (forMs !== undefined) this.#timer = setTimeout(() => this.#listenOrRetry(), forMs);
  }

  /** Listens again. Failure('usage') when another process has taken a port in the meantime; it then listens on none. */
  async listenAgain(): Promise<void> {
    clearTimeout(this.#timer);
    const listeners = [...this.#listeners];
    try {
      for (const { listener, port } of listeners) await listener.open(port);
    } catch (error) {
      for (const { listener } of listeners) listener.drop();
      throw error;
    }
  }

  /** Prevents listening again. */
  end(): void {
    clearTimeout(this.#timer);
    this.#listeners.length = 0;
  }

  #listenOrRetry(): void {
    this.listenAgain().catch(() => {
      if (this.#listeners.length > 0) this.#timer = setTimeout(() => this.#listenOrRetry(), RETRY_MS);
    });
  }
}
