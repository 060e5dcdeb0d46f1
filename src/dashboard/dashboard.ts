import { randomBytes } from 'node:crypto';
import type { SecondSite } from '../http/http-server.ts';
import { createApp, MAX_BODY_BYTES } from './app.ts';
import { refusedByHeaders } from './errors.ts';
import { readWebFiles, webFolder } from './pages/web-files.ts';
import { Roots } from './runs/roots.ts';
import { RunFolder } from './runs/run-folder.ts';
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
  /** Ends sessions and everything that runs for them. Open requests are answered. */
  close(): Promise<void>;
}

export async function openDashboard(options: DashboardOptions): Promise<Dashboard> {
  const { out, say } = options;
  const token = options.token ?? randomBytes(TOKEN_BYTES).toString('base64url');
  const sessions = new Sessions(options.sessionLifetimeMs);
  const folder = webFolder();
  const app = await createApp({
    ...{ token, sessions, say },
    failedLogins: new FailedLogins(),
    runs: new RunFolder(out),
    roots: await Roots.open(options.roots),
    web: folder === null ? null : await readWebFiles(folder),
  });
  return {
    token,
    site: {
      // The app asks for a session or the token itself: its pages need neither.
      token: null,
      maxBodyBytes: MAX_BODY_BYTES,
      chunkedBodies: true,
      // With a token of its own it may be behind a proxy, under another name. A page of that name has no session here.
      anyHost: options.token !== null,
      errorBody: (status, text) => refusedByHeaders(status, text).body,
      handle: async (request, response) => app.routing(request, response),
    },
    close: async () => {
      sessions.close();
      await app.close();
    },
  };
}
