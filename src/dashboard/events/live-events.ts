import { setTimeout as delay } from 'node:timers/promises';
import type { DashboardEvent, Health, RunRow } from '../api/runs.ts';
import type { ListedRuns } from '../runs/run-list.ts';
import type { EventStream } from './event-stream.ts';

const MAX_STREAMS = 64;

/** Reviews that wait for a client that is slow; the oldest is dropped. */
const MAX_REVIEWS = 200;

/** Between two looks, in milliseconds. */
const LOOK_EVERY_MS = 1000;

interface LiveEventsOptions {
  readonly runs: () => Promise<ListedRuns>;
  readonly health: () => Promise<Health>;
  /** Takes one line for people when looking fails. */
  readonly say: (line: string) => void;
}

/** What a client was sent last. */
interface Client {
  readonly stream: EventStream;
  /** State of the list; 0: nothing. */
  runs: number;
  /** As JSON. */
  health: string;
  /** Not yet sent. */
  reviews: RunReview[];
}

type RunReview = Extract<DashboardEvent, { kind: 'reviews' }>['reviews'][number];

/**
 * Tells clients what changes. While there are any, it looks once a second; a client gets what has changed since its last
 * event, so one that is slow gets fewer.
 */
export class LiveEvents {
  readonly #options: LiveEventsOptions;
  readonly #clients = new Set<Client>();
  readonly #closing = new AbortController();
  #looking: Promise<void> | null = null;
  /** Counts the changes of the list. */
  #state = 0;
  /** The state at which a run was last removed from the list, or another number of runs left out of it. */
  #removedAt = 0;
  /** Each listed run as JSON, and the state at which it last changed. */
  #known = new Map<string, { readonly json: string; readonly row: RunRow; readonly since: number }>();
  #older = 0;

  constructor(options: LiveEventsOptions) {
    this.#options = options;
  }

  get isFull(): boolean {
    return this.#clients.size >= MAX_STREAMS;
  }

  /** Sends events until the client leaves, or `ended` aborts. */
  follow(stream: EventStream, ended: AbortSignal, left: Promise<unknown>): void {
    const client: Client = { stream, runs: 0, health: '', reviews: [] };
    const end = (): void => stream.end();
    const signal = AbortSignal.any([ended, this.#closing.signal]);
    if (signal.aborted) {
      end();
      return;
    }
    signal.addEventListener('abort', end, { once: true });
    this.#clients.add(client);
    void left.then(() => {
      signal.removeEventListener('abort', end);
      this.#clients.delete(client);
    });
    this.#looking ??= this.#look().finally(() => (this.#looking = null));
  }

  /** Tells all clients of a review that was saved here. */
  reviewed(entry: RunReview): void {
    for (const client of this.#clients) {
      client.reviews = [...client.reviews, entry].slice(-MAX_REVIEWS);
      tellReviews(client);
    }
  }

  /** Ends all streams. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#looking;
  }

  async #look(): Promise<void> {
    const { signal } = this.#closing;
    let problem = '';
    while (this.#clients.size > 0 && !signal.aborted) {
      try {
        const [listed, health] = await Promise.all([this.#options.runs(), this.#options.health()]);
        this.#take(listed);
        for (const client of this.#clients) this.#tell(client, health);
        problem = '';
      } catch (error) {
        if (signal.aborted) return;
        const code = error instanceof Error && 'code' in error ? String(error.code) : 'unexpected error';
        if (code !== problem) this.#options.say(`the folder of runs cannot be listed (${code})`);
        problem = code;
      }
      await delay(LOOK_EVERY_MS, undefined, { signal }).catch(() => {});
    }
  }

  #take({ rows, older }: ListedRuns): void {
    const next = this.#state + 1;
    const known = new Map<string, { json: string; row: RunRow; since: number }>();
    let changed = this.#state === 0;
    for (const row of rows) {
      const before = this.#known.get(row.run);
      const json = JSON.stringify(row);
      const same = before?.json === json;
      known.set(row.run, same ? before : { json, row, since: next });
      changed ||= !same;
    }
    const removed = [...this.#known.keys()].some((run) => !known.has(run)) || older !== this.#older;
    if (!changed && !removed) return;
    this.#state = next;
    if (removed) this.#removedAt = next;
    this.#known = known;
    this.#older = older;
  }

  #tell(client: Client, health: Health): void {
    const { stream } = client;
    tellReviews(client);
    if (stream.isBusy) return;
    if (client.runs !== this.#state) {
      const complete = client.runs === 0 || client.runs < this.#removedAt;
      const entries = [...this.#known.values()].filter(({ since }) => complete || since > client.runs);
      const runs = entries.map(({ row }) => row);
      stream.send({ kind: 'runs', runs, complete, older: this.#older });
      client.runs = this.#state;
    }
    const json = JSON.stringify(health);
    if (json === client.health || stream.isBusy) return;
    stream.send({ kind: 'health', health });
    client.health = json;
  }
}

function tellReviews(client: Client): void {
  if (client.stream.isBusy || client.reviews.length === 0) return;
  client.stream.send({ kind: 'reviews', reviews: client.reviews });
  client.reviews = [];
}
