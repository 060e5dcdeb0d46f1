import { randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { EMBEDDED_GUARD } from '../config/values/guard-url.ts';
import type { RedisAddress } from '../config/values/redis-url.ts';
import type { EndpointStatus } from '../guard/endpoint/endpoint-status.ts';
import type { GuardPool } from '../guard/pool/pool.ts';
import type { SecondSite } from '../http/http-server.ts';
import { runKeyFile } from '../runs/trust/run-key.ts';
import type { Health } from './api/runs.ts';
import { createApp, MAX_BODY_BYTES } from './app.ts';
import { askIndexes } from './content/indexed-items.ts';
import { ItemContents } from './content/item-contents.ts';
import { LiveEvents } from './events/live-events.ts';
import { FleetLink } from './health/fleet-link.ts';
import { RunIndexes } from './index/run-indexes.ts';
import { readWebFiles, webFolder } from './pages/web-files.ts';
import { Roots } from './runs/roots.ts';
import { RunActions } from './runs/run-control.ts';
import { RunFolder } from './runs/run-folder.ts';
import { RunList } from './runs/run-list.ts';
import { RunProcesses } from './runs/run-processes.ts';
import { RunReports } from './runs/run-reports.ts';
import { FailedLogins } from './session/failed-logins.ts';
import { Sessions } from './session/sessions.ts';

const TOKEN_BYTES = 32;

export interface DashboardOptions {
  /** Absolute folder of the runs; it need not exist. */
  readonly out: string;
  /** Absolute folders that content may be read from; at least one. */
  readonly roots: readonly string[];
  /** Opens the dashboard; null: a random one that is made now. */
  readonly token: string | null;
  /** Opens it too, with the right to release restricted items; null: nobody has it. */
  readonly releaseToken: string | null;
  readonly pool: Pick<GuardPool, 'status'>;
  /** URLs of the guards that judge new runs; none: the embedded guard. With Redis, its workers do. */
  readonly guards: readonly string[];
  /** Absolute path of the written policy by which they judge; null: none. */
  readonly guardPolicy: string | null;
  /** The Redis of the fleet; null: none. */
  readonly redis: RedisAddress | null;
  /** What starts the command line: Node and its main file. */
  readonly program: readonly [string, ...string[]];
  /** Of the commands that are started for runs. */
  readonly env: NodeJS.ProcessEnv;
  /** How long a session lasts, in milliseconds. Default: 12 h. */
  readonly sessionLifetimeMs?: number;
  /** Takes one line for people. */
  readonly say: (line: string) => void;
}

/** The dashboard: what an HTTP server serves for it, and what it does meanwhile. */
export interface Dashboard {
  readonly site: Omit<SecondSite, 'takes'>;
  /** Opens it. */
  readonly token: string;
  /**
   * Ends sessions, event streams and the commands that were started for runs; these are killed when `stop` aborts. Open
   * requests are answered.
   */
  close(stop: AbortSignal): Promise<void>;
}

export async function openDashboard(options: DashboardOptions): Promise<Dashboard> {
  const { out, say, pool, env, program, guardPolicy } = options;
  const token = options.token ?? randomBytes(TOKEN_BYTES).toString('base64url');
  const sessions = new Sessions(options.sessionLifetimeMs);
  const roots = await Roots.open(options.roots);
  const web = webFolder();
  const files = web === null ? null : await readWebFiles(web);
  const closing = new AbortController();
  setMaxListeners(0, closing.signal);
  const { signal } = closing;
  const runs = new RunFolder(out);
  const fleet = options.redis && new FleetLink(options.redis, say);
  const health = (): Promise<Health> => healthOf(pool, fleet, signal);
  const processes = new RunProcesses({ program, env, cwd: roots.folders[0]! });
  const list = new RunList({
    folder: runs,
    link: () => fleet?.link ?? null,
    problemOf: (run) => processes.of(run)?.failure?.message ?? null,
  });
  const keyFile = runKeyFile(env);
  const guards = fleet !== null ? [] : options.guards.length > 0 ? options.guards : [EMBEDDED_GUARD];
  const control = new RunActions({
    ...{ folder: runs, list, processes, keyFile, signal, out, roots, guards, guardPolicy, env },
  });
  const events = new LiveEvents({ runs: () => list.look(signal), health, say });
  const indexes = new RunIndexes();
  const contents = new ItemContents({ roots, items: askIndexes(indexes), keyFile });
  const site = await createApp({
    ...{ token, sessions, say, runs, roots, list, control, keyFile, events, health, signal, indexes },
    ...{ contents, web: files, releaseToken: options.releaseToken },
    reports: new RunReports(signal),
    failedLogins: new FailedLogins(),
  });
  return {
    token,
    site: {
      ...site,
      // The app asks for a session or the token itself: its pages need neither.
      token: null,
      maxBodyBytes: MAX_BODY_BYTES,
      // With a token of its own it may be behind a proxy, under another name. A page of that name has no session here.
      anyHost: options.token !== null,
    },
    close: async (stop) => {
      sessions.close();
      closing.abort();
      await contents.close();
      await Promise.all([events.close(), indexes.close(), processes.close(stop), fleet?.close()]);
    },
  };
}

/** The services that runs depend on, as this server sees them. `fleet` is null without Redis. */
async function healthOf(
  pool: Pick<GuardPool, 'status'>,
  fleet: FleetLink | null,
  signal: AbortSignal,
): Promise<Health> {
  return { guards: pool.status().map(guardHealth), fleet: fleet && (await fleet.look(signal)) };
}

function guardHealth({ name, state, fingerprint, inFlight }: EndpointStatus): Health['guards'][number] {
  const ready = state.name === 'ready';
  return {
    endpoint: name,
    ready,
    problem: ready ? null : state.detail,
    fingerprint,
    requests_in_flight: ready ? inFlight : null,
  };
}
