import { onTestFinished } from 'vitest';
import type { DashboardOptions } from '../../src/dashboard/dashboard.ts';
import { serve } from '../../src/dashboard/serve.ts';
import type { OpenGuards } from '../../src/guard/pool/guard-session.ts';
import { LateGuards } from '../../src/guard-setup/late-guards.ts';
import { startRun } from '../../src/library/start-run.ts';
import { DEFAULT_JUDGING } from './judging.ts';

export interface ServedDashboard {
  /** `http://127.0.0.1:43210`. */
  readonly origin: string;
  readonly token: string;
  /** `fetch` of a path with the session of somebody who is logged in; a body is sent as JSON, with our own Origin. */
  readonly fetch: (path: string, init?: { method?: string; body?: unknown }) => Promise<Response>;
  /** The same with the session cookie, for requests that are built by hand. */
  readonly cookie: string;
  /** Lines that the server said, such as about an error that nobody foresaw. */
  readonly said: readonly string[];
  /** Ends the server as an interrupt does. Idempotent. */
  close(): Promise<void>;
}

interface ServedOptions extends Partial<Pick<DashboardOptions, 'roots'>> {
  /** Folder of the runs. */
  readonly out: string;
  /** Of the environment; default: the server makes one. */
  readonly token?: string | null;
  readonly openGuards?: OpenGuards;
}

/** The real server of `guardsweep serve` over a folder of runs, closed when the test is over. It has no guard unless given. */
export async function serveDashboard({
  out,
  roots = [out],
  token = null,
  openGuards,
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
      openGuards: openGuards ?? (async () => new LateGuards({ urls: [], open: noGuard, say })),
      dashboard: { out, roots },
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
    await serving;
  };
  onTestFinished(close);
  await Promise.race([printed, serving]);
  const origin = /listening on (\S+)/.exec(lines.join('\n'))![1]!;
  const made = token ?? /#token=(\S+)/.exec(lines.join('\n'))![1]!;
  const cookie = await logIn(origin, made);
  const fetchLoggedIn: ServedDashboard['fetch'] = (path, { method = 'GET', body } = {}) => {
    const headers = { cookie, origin, ...(method === 'GET' ? {} : { 'content-type': 'application/json' }) };
    return fetch(origin + path, { method, headers, body: body === undefined ? null : JSON.stringify(body) });
  };
  return { origin, token: made, fetch: fetchLoggedIn, cookie, said, close };
}

/** Logs in as the page does; returns the session cookie. */
export async function logIn(origin: string, token: string): Promise<string> {
  const response = await fetch(`${origin}/api/session`, {
    method: 'POST',
    headers: { origin, 'content-type': 'application/json' },
    body: JSON.stringify({ token }),
  });
  const [cookie] = response.headers.getSetCookie();
  if (response.status !== 204 || cookie === undefined) throw new Error(`login: ${response.status}`);
  return cookie.split(';', 1)[0]!;
}

/** A run of the embedded guard over files; returns its directory. */
export async function embeddedRun(
  out: string,
  paths: readonly string[],
  more: Partial<Parameters<typeof startRun>[0]> = {},
): Promise<string> {
  const { dir } = await startRun({ paths, out, guard: 'embedded:', ...more });
  return dir;
}

const noGuard: OpenGuards = () => Promise.reject(new Error('there is no guard'));
