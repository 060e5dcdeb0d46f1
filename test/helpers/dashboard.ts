import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, onTestFinished } from 'vitest';
import type { LoggedIn } from '../../src/dashboard/api/runs.ts';
import type { DashboardOptions } from '../../src/dashboard/dashboard.ts';
import { serve } from '../../src/dashboard/serve.ts';
import type { GuardEndpoint } from '../../src/guard/protocol/address.ts';
import type { OpenGuards } from '../../src/guard/pool/guard-session.ts';
import { connectGuards } from '../../src/guard/pool/connect-guards.ts';
import { MAIN } from './cli.ts';
import { DEFAULT_JUDGING } from './run-config.ts';

export interface ServedDashboard {
  /** `http://127.0.0.1:43210`. */
  readonly origin: string;
  readonly token: string;
  /** `fetch` of a path with the session of somebody who is logged in; a body is sent as JSON, with our own Origin. */
  readonly fetch: (path: string, init?: { method?: string; body?: unknown }) => Promise<Response>;
  /** The JSON of a path: asked for, or with a body posted. The request must succeed. */
  readonly json: <T>(path: string, body?: unknown) => Promise<T>;
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
  Pick<DashboardOptions, 'roots' | 'redis' | 'env' | 'sessionLifetimeMs'>
> {
  /** Folder of the runs. */
  readonly out: string;
  /** Of the environment; default: the server makes one. */
  readonly token?: string | null;
  /** Default: a free one. */
  readonly port?: number;
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
export async function startDashboard(options: ServedOptions): Promise<ServedDashboard> {
  const { out, roots = [out], redis = null, env = process.env, sessionLifetimeMs } = options;
  const lifetime = sessionLifetimeMs === undefined ? {} : { sessionLifetimeMs };
  const { token = null, port = 0, releaseToken = null, openGuards = openUnready([]) } = options;
  const lines: string[] = [];
  const said: string[] = [];
  const drain = new AbortController();
  const stop = new AbortController();
  let print = (): void => {};
  const printed = new Promise<void>((resolve) => (print = resolve));
  const say = (line: string): void => void said.push(line);
  const serving = serve(
    {
      host: '127.0.0.1',
      port,
      token,
      judging: DEFAULT_JUDGING,
      maxConcurrency: 16,
      timeoutMs: 120_000,
      say,
      openGuards,
      dashboard: { out, roots, env, redis, releaseToken, ...lifetime },
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
  const json = async <T>(path: string, body?: unknown): Promise<T> => {
    const answer = await fetchLoggedIn(path, body === undefined ? {} : { method: 'POST', body });
    expect([path, answer.status]).toEqual([path, 200]);
    return (await answer.json()) as T;
  };
  return { origin, token, fetch: fetchLoggedIn, json, cookie, pageKey };
}

/** Logs in as the page does; returns the session cookie, and the key of the page. */
export async function logIn(
  origin: string,
  token: string,
  reviewer: string | null = 'Tess',
): Promise<{ readonly cookie: string; readonly pageKey: string }> {
  const response = await fetch(`${origin}/api/session`, {
    method: 'POST',
    headers: { origin, 'content-type': 'application/json' },
    body: JSON.stringify({ token, reviewer }),
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

/** Guards that need not be ready, as `serve` opens them. */
function openUnready(endpoints: readonly GuardEndpoint[]): OpenGuards {
  return async (signal, say) => {
    const options = { expectFingerprint: null, maxWaitMs: null, waitsForGuards: false, say };
    const pool = await connectGuards(endpoints, options, signal);
    return { pool, died: new AbortController().signal, close: () => pool.close() };
  };
}
