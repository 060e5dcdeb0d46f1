import { randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { Say } from '../domain/say.ts';
import type { RedisAddress } from '../config/values/redis-url.ts';
import type { EndpointStatus } from '../guard/endpoint/endpoint-status.ts';
import type { GuardPool } from '../guard/pool/pool.ts';
import type { SecondSite } from '../http/http-server.ts';
import type { Readiness } from '../http/metrics-server.ts';
import { runKeyFile } from '../runs/trust/run-key.ts';
import type { Health } from './api/runs.ts';
import { createApp, MAX_BODY_BYTES } from './app.ts';
import { ItemContents } from './content/item-contents.ts';
import { FleetLink } from './health/fleet-link.ts';
import { RunIndexes } from './index/run-indexes.ts';
import { readWebFiles, webFolder } from './pages/web-files.ts';
import { ContentAccess } from './runs/content-access.ts';
import { RunFolder } from './runs/run-folder.ts';
import { ListedRuns } from './runs/run-list.ts';
import { RunReports } from './runs/run-reports.ts';
import { FailedLogins } from './session/access.ts';
import { Sessions } from './session/sessions.ts';

const TOKEN_BYTES = 32;

export interface DashboardOptions {
  /** Absolute folder of the runs, which need not exist. */
  readonly out: string;
  /** Absolute folders from which content may be read; at least one. */
  readonly roots: readonly string[];
  /** Token that opens the dashboard; null to create a random one. */
  readonly token: string | null;
  /** Token that also opens it, with the right to release restricted items; null if they cannot be released. */
  readonly releaseToken: string | null;
  readonly pool: Pick<GuardPool, 'status'>;
  /** The Redis of the fleet; null if there is none. */
  readonly redis: RedisAddress | null;
  /** Environment that determines the folder of this user's key. */
  readonly env: NodeJS.ProcessEnv;
  /** How long a session lasts, in milliseconds. Default: 12 h. */
  readonly sessionLifetimeMs?: number;
  /** Prints one human-readable line. */
  readonly say: Say;
}

/** The dashboard: the site to serve over HTTP, and its background work. */
export interface Dashboard {
  readonly site: Omit<SecondSite, 'takes'>;
  /** Token that opens the dashboard. */
  readonly token: string;
  readonly needs: Readiness;
  /** Aborts reading for requests. */
  close(): Promise<void>;
}

export async function openDashboard(options: DashboardOptions): Promise<Dashboard> {
  const { out, say, pool } = options;
  const token = options.token ?? randomBytes(TOKEN_BYTES).toString('base64url');
  const sessions = new Sessions(options.sessionLifetimeMs);
  const access = await ContentAccess.open(options.roots, runKeyFile(options.env));
  const web = webFolder();
  const files = web === null ? null : await readWebFiles(web);
  const closing = new AbortController();
  setMaxListeners(0, closing.signal);
  const { signal } = closing;
  const runs = new RunFolder(out);
  const fleet = options.redis && new FleetLink(options.redis, say);
  const health = (): Promise<Health> => healthOf(pool, fleet, signal);
  const list = new ListedRuns({ folder: runs, link: () => fleet?.link ?? null });
  const indexes = new RunIndexes();
  const contents = new ItemContents({ access, indexes });
  const site = await createApp({
    ...{ token, sessions, say, runs, access, list, health, signal, indexes },
    ...{ contents, web: files, releaseToken: options.releaseToken },
    reports: new RunReports(signal),
    failedLogins: new FailedLogins(),
  });
  return {
    token,
    needs: fleet === null ? {} : { redis: () => fleet.answers() },
    site: {
      ...site,
      // The app itself asks for a session or the token: its pages need neither.
      token: null,
      maxBodyBytes: MAX_BODY_BYTES,
      // With a configured token it may be behind a proxy, under another name. A page under that name has no session
      // here.
      anyHost: options.token !== null,
    },
    close: async () => {
      closing.abort();
      await contents.close();
      await Promise.all([indexes.close(), fleet?.close()]);
    },
  };
}

/** State of the services that runs depend on, as seen by this server. `fleet` is null without Redis. */
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
