import { execFile } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import type { Health, LoggedIn, RunRow } from '../../src/dashboard/api/runs.ts';
import type { DashboardOptions } from '../../src/dashboard/dashboard.ts';
import { serve } from '../../src/dashboard/serve.ts';
import type { GuardEndpoint } from '../../src/guard/protocol/address.ts';
import type { OpenGuards } from '../../src/guard/pool/guard-session.ts';
import { connectGuards } from '../../src/guard/pool/connect-guards.ts';
import { DEFAULT_JUDGING } from './judging.ts';

export interface ServedDashboard {
  /** `http://127.0.0.1:43210`. */
  readonly origin: string;
  readonly token: string;
  /** `fetch` of a path with the session of somebody who is logged in; a body is sent as JSON, with our own Origin. */
  readonly fetch: (path: string, init?: { method?: string; body?: unknown }) => Promise<Response>;
  /** The same with the session cookie, for requests that are built by hand. */
  readonly cookie: string;
  /** The key that its page sends besides, as `x-page-key`. */
  readonly pageKey: string;
  /** Lines on stdout. */
  readonly printed: readonly string[];
  /** Lines that the server said, such as about an error that nobody foresaw. */
  readonly said: readonly string[];
  /** Ends the server as an interrupt does. Idempotent. */
  close(): Promise<void>;
}

interface ServedOptions extends Partial<
  Pick<DashboardOptions, 'roots' | 'guards' | 'guardPolicy' | 'redis' | 'env' | 'sessionLifetimeMs'>
> {
  /** Folder of the runs. */
  readonly out: string;
  /** Of the environment; default: the server makes one. */
  readonly token?: string | null;
  readonly releaseToken?: string | null;
  readonly openGuards?: OpenGuards;
}

/** The same as `startDashboard`, closed when the test is over. */
export async function serveDashboard(options: ServedOptions): Promise<ServedDashboard> {
  const served = await startDashboard(options);
  onTestFinished(() => served.close());
  return served;
}

/** The real server of `guardsweep serve` over a folder of runs. It has no guard unless given. The caller closes it. */
export async function startDashboard({
  out,
  roots = [out],
  guards = [],
  guardPolicy = null,
  redis = null,
  env = process.env,
  token = null,
  releaseToken = null,
  openGuards,
  sessionLifetimeMs,
}: ServedOptions): Promise<ServedDashboard> {
  const lines: string[] = [];
  const said: string[] = [];
  const drain = new AbortController();
  const stop = new AbortController();
  let print = (): void => {};
  const printed = new Promise<void>((resolve) => (print = resolve));
  const say = (line: string): void => void said.push(line);
  const serving = serve(
    {
      ...{ host: '127.0.0.1', port: 0, token, judging: DEFAULT_JUDGING },
      ...{ maxConcurrency: 16, timeoutMs: 30_000, say },
      openGuards: openGuards ?? openUnready([]),
      dashboard: {
        ...{ out, roots, guards, guardPolicy, env, redis, releaseToken, program: [process.execPath, MAIN] },
        ...(sessionLifetimeMs === undefined ? {} : { sessionLifetimeMs }),
      },
      stdout: {
        line: (line) => {
          lines.push(line);
          if (line.startsWith('dashboard: ')) print();
        },
      },
    },
    { drain: drain.signal, stop: stop.signal },
  );
  const close = async (): Promise<void> => {
    drain.abort(new Error('the test is over'));
    stop.abort(new Error('the test is over'));
    await serving.catch((error: unknown) => {
      if (error !== stop.signal.reason) throw error;
    });
  };
  await Promise.race([printed, serving]);
  const origin = /listening on (\S+)/.exec(lines.join('\n'))![1]!;
  const made = token ?? /#token=(\S+)/.exec(lines.join('\n'))![1]!;
  return { ...(await openSession(origin, made)), printed: lines, said, close };
}

/** What somebody who is logged in has of a dashboard. */
export type OpenSession = Omit<ServedDashboard, 'printed' | 'said' | 'close'>;

/** Logs in with the token of a dashboard that is served anywhere. */
export async function openSession(origin: string, token: string): Promise<OpenSession> {
  const { cookie, pageKey } = await logIn(origin, token);
  const fetchLoggedIn: ServedDashboard['fetch'] = (path, { method = 'GET', body } = {}) => {
    const changing = { 'content-type': 'application/json', 'x-page-key': pageKey };
    const headers = { cookie, origin, ...(method === 'GET' ? {} : changing) };
    return fetch(origin + path, { method, headers, body: body === undefined ? null : JSON.stringify(body) });
  };
  return { origin, token, fetch: fetchLoggedIn, cookie, pageKey };
}

/** Logs in as the page does; returns the session cookie, and the key of the page. */
export async function logIn(
  origin: string,
  token: string,
): Promise<{ readonly cookie: string; readonly pageKey: string }> {
  const response = await fetch(`${origin}/api/session`, {
    method: 'POST',
    headers: { origin, 'content-type': 'application/json' },
    body: JSON.stringify({ token }),
  });
  const [cookie] = response.headers.getSetCookie();
  if (response.status !== 200 || cookie === undefined) throw new Error(`login: ${response.status}`);
  const { page_key: pageKey } = (await response.json()) as LoggedIn;
  return { cookie: cookie.split(';', 1)[0]!, pageKey };
}

/** A run of the built command line with its embedded guard; returns its directory. `flags`: of `enqueue`. */
export async function embeddedRun(
  out: string,
  paths: readonly string[],
  flags: readonly string[] = [],
): Promise<string> {
  const args = ['enqueue', '--out', out, '--allow-errors', '--quiet', ...flags, '--', ...paths];
  const { stdout } = await promisify(execFile)(process.execPath, [MAIN, ...args]);
  return stdout.trimEnd().split('\n').at(-1)!;
}

/** The built command line, which is started for runs. */
const MAIN = fileURLToPath(new URL('../../dist/src/cli/main.js', import.meta.url));

/** Guards that need not be ready, as `serve` opens them. */
export function openUnready(endpoints: readonly GuardEndpoint[]): OpenGuards {
  return async (signal, say) => {
    const options = { expectFingerprint: null, maxWaitMs: null, waitsForGuards: false, say };
    const pool = await connectGuards(endpoints, options, signal);
    return { pool, died: new AbortController().signal, close: () => pool.close() };
  };
}

/** How long to wait for an event, in milliseconds: far more than any takes. */
const GIVE_UP_MS = 30_000;

/** The events of a dashboard, as its page follows them. */
export interface FollowedEvents {
  /** Resolves to the list of runs once it is as `looked` wants it. */
  next(looked: (runs: readonly RunRow[]) => boolean): Promise<RunRow[]>;
  /** The same for the services that runs depend on. */
  health(looked: (health: Health) => boolean): Promise<Health>;
  /** Resolves when the server has ended the stream. */
  readonly ended: Promise<void>;
}

/** Follows the events of a dashboard until the test is over. */
export async function followEvents({
  origin,
  cookie,
}: Pick<ServedDashboard, 'origin' | 'cookie'>): Promise<FollowedEvents> {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const response = await fetch(`${origin}/api/events`, { headers: { cookie }, signal: stop.signal });
  if (response.status !== 200) throw new Error(`events: ${response.status}`);
  const runs = new Map<string, RunRow>();
  const changed = new EventEmitter();
  let isFirst = true;
  let health: Health | null = null;
  const take = (event: string, data: string): void => {
    if (event === 'health') {
      ({ health } = JSON.parse(data) as { health: Health });
      changed.emit('health');
      return;
    }
    const { complete, runs: rows } = JSON.parse(data) as { complete: boolean; runs: RunRow[] };
    if (complete) runs.clear();
    for (const row of rows) runs.set(row.run, row);
    isFirst = false;
    changed.emit('runs');
  };
  const read = async (): Promise<void> => {
    let text = '';
    const decoder = new TextDecoder();
    for await (const chunk of response.body!) {
      text += decoder.decode(chunk as Uint8Array, { stream: true });
      for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
        const [, event, data] = /^event: (\w+)\ndata: (.*)$/.exec(text.slice(0, end)) ?? [];
        text = text.slice(end + 2);
        if (event !== undefined) take(event, data!);
      }
    }
  };
  const ended = read().catch((error: unknown) => {
    if (!stop.signal.aborted) throw error;
  });
  const wait = async (kind: 'runs' | 'health', isSeen: () => boolean): Promise<void> => {
    const giveUp = setTimeout(() => {
      const last = JSON.stringify({ runs: [...runs.values()], health });
      changed.emit('error', new Error(`no event was as expected; the last ones: ${last}`));
    }, GIVE_UP_MS);
    try {
      while (!isSeen()) await once(changed, kind, { signal: stop.signal });
    } finally {
      clearTimeout(giveUp);
    }
  };
  return {
    ended,
    next: async (looked) => {
      await wait('runs', () => !isFirst && looked([...runs.values()]));
      return [...runs.values()];
    },
    health: async (looked) => {
      await wait('health', () => health !== null && looked(health));
      return health!;
    },
  };
}
