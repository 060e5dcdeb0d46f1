import { createHash, randomBytes } from 'node:crypto';

/** A working day. */
const LIFETIME_MS = 12 * 60 * 60 * 1000;

/** The oldest ends when one more begins. */
const MAX_SESSIONS = 256;

const SECRET_BYTES = 32;

/** Somebody who is logged in. */
export interface Session {
  /**
   * A second secret, which a page sends as a header. Browsers send cookies to every port of a host, so other servers there
   * may learn the id.
   */
  readonly pageKey: string;
  /** Whether they may release restricted items. */
  readonly mayRelease: boolean;
  /** Name that whoever is logged in gave; null: none. */
  reviewer: string | null;
  /** Aborts when the session expires or ends. */
  readonly ended: AbortSignal;
}

interface Entry extends Session {
  readonly ending: AbortController;
  readonly timer: NodeJS.Timeout;
}

/** The sessions of a dashboard, by the hash of their ids: how long a search takes says nothing about an id. */
export class Sessions {
  readonly #lifetimeMs: number;
  readonly #entries = new Map<string, Entry>();

  constructor(lifetimeMs = LIFETIME_MS) {
    this.#lifetimeMs = lifetimeMs;
  }

  /** How long a session lasts, in seconds. */
  get lifetimeSeconds(): number {
    return Math.floor(this.#lifetimeMs / 1000);
  }

  /** Begins a session; its id is the secret of its cookie. */
  begin(reviewer: string | null, mayRelease: boolean): { readonly id: string; readonly pageKey: string } {
    const id = newSecret();
    const pageKey = newSecret();
    const key = keyOf(id);
    const ending = new AbortController();
    const timer = setTimeout(() => this.#end(key), this.#lifetimeMs);
    timer.unref();
    this.#entries.set(key, { pageKey, mayRelease, reviewer, ended: ending.signal, ending, timer });
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > MAX_SESSIONS) this.#end(oldest!);
    return { id, pageKey };
  }

  find(id: string): Session | null {
    return this.#entries.get(keyOf(id)) ?? null;
  }

  end(id: string): void {
    this.#end(keyOf(id));
  }

  close(): void {
    for (const key of [...this.#entries.keys()]) this.#end(key);
  }

  #end(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    clearTimeout(entry.timer);
    entry.ending.abort();
  }
}

function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

function keyOf(id: string): string {
  return createHash('sha256').update(id).digest('base64');
}
