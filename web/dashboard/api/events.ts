import { signal, type ReadonlySignal } from '@preact/signals';
import type { ReviewProgress } from '../../../src/dashboard/api/reviews.ts';
import type { DashboardEvent, Health, RunRow } from '../../../src/dashboard/api/runs.ts';
import { ApiError, requestJson } from './http.ts';

/**
 * The events of the server, as long as somebody looks:
 *
 *   closed ── open ──► connecting ── first event ──► live
 *     ▲                    ▲                          │
 *     └── close, hidden    └── after a pause ── lost ◄┘ connection lost, or refused
 *
 * A hidden page closes its stream, because a browser allows a server few connections at a time.
 */
export type Connection = 'closed' | 'connecting' | 'live' | 'lost';

const connectionNow = signal<Connection>('closed');
const runsNow = signal<readonly RunRow[] | null>(null);
const olderNow = signal(0);
const healthNow = signal<Health | null>(null);

export const connection: ReadonlySignal<Connection> = connectionNow;
/** All runs, newest first; null until the server has said. */
export const liveRuns: ReadonlySignal<readonly RunRow[] | null> = runsNow;
/** Number of runs that are too old to be listed. */
export const olderRuns: ReadonlySignal<number> = olderNow;
export const health: ReadonlySignal<Health | null> = healthNow;

type LiveReviews = Extract<DashboardEvent, { kind: 'reviews' }>['reviews'];

const reviewsNow = signal<LiveReviews>([]);

/** Reviews that were saved on this server last, by anybody. */
export const liveReviews: ReadonlySignal<LiveReviews> = reviewsNow;

const progressNow = signal<ReadonlyMap<string, ReviewProgress>>(new Map());

/** How far people are with the runs on which somebody has decided since the page was loaded. */
export const reviewProgress: ReadonlySignal<ReadonlyMap<string, ReviewProgress>> = progressNow;

const FIRST_PAUSE_MS = 1000;
const MAX_PAUSE_MS = 30_000;

type DataOf<Kind extends DashboardEvent['kind']> = Omit<Extract<DashboardEvent, { kind: Kind }>, 'kind'>;

/** Follows the server's events until the returned function is called. */
export function followEvents(): () => void {
  let source: EventSource | null = null;
  let timer = 0;
  let pause = FIRST_PAUSE_MS;

  const close = (): void => {
    clearTimeout(timer);
    source?.close();
    source = null;
  };
  const received = (): void => {
    pause = FIRST_PAUSE_MS;
    connectionNow.value = 'live';
  };
  const open = (): void => {
    close();
    connectionNow.value = 'connecting';
    source = new EventSource('/api/events');
    source.addEventListener('open', received);
    source.addEventListener('runs', ({ data }: MessageEvent<string>) => {
      received();
      const { runs, complete, older } = JSON.parse(data) as DataOf<'runs'>;
      olderNow.value = older;
      runsNow.value = complete ? runs : updated(runsNow.value ?? [], runs);
    });
    source.addEventListener('health', ({ data }: MessageEvent<string>) => {
      received();
      healthNow.value = (JSON.parse(data) as DataOf<'health'>).health;
    });
    source.addEventListener('reviews', ({ data }: MessageEvent<string>) => {
      received();
      const { reviews } = JSON.parse(data) as DataOf<'reviews'>;
      const known = new Map(progressNow.value);
      for (const { run, progress } of reviews) known.set(run, progress);
      progressNow.value = known;
      reviewsNow.value = reviews;
    });
    source.addEventListener('error', () => void lost());
  };
  const lost = async (): Promise<void> => {
    close();
    connectionNow.value = 'lost';
    timer = window.setTimeout(open, pause);
    pause = Math.min(2 * pause, MAX_PAUSE_MS);
    // An event stream does not tell why it failed: a session that is gone shows here, as a 401.
    await requestJson('/api/session').catch((error: unknown) => {
      if (!(error instanceof ApiError)) throw error;
    });
  };
  const whenVisible = (): void => {
    if (!document.hidden) return open();
    close();
    connectionNow.value = 'closed';
  };

  document.addEventListener('visibilitychange', whenVisible);
  whenVisible();
  return () => {
    document.removeEventListener('visibilitychange', whenVisible);
    close();
    connectionNow.value = 'closed';
    runsNow.value = null;
    healthNow.value = null;
  };
}

/** A list of runs with some of them new or changed, newest first. */
function updated(before: readonly RunRow[], changed: readonly RunRow[]): readonly RunRow[] {
  const rows = new Map([...before, ...changed].map((row) => [row.run, row]));
  return [...rows.values()].sort((a, b) => (a.run < b.run ? 1 : -1));
}
