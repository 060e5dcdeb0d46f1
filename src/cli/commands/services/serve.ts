import type { Command } from 'commander';
import { GUARD_TLS_SETTINGS, resolveGuardTlsFiles, readGuardTls } from '../../../config/keys/guard-tls.ts';
import { REDIS, START_WAIT } from '../../../config/settings/entries/fleet.ts';
import {
  CONTENT_ROOT,
  DASHBOARD,
  GATEWAY_HOST,
  GATEWAY_PORT,
  LOG_FORMAT,
} from '../../../config/settings/entries/servers.ts';
import { GATEWAY_GUARD, GUARD_POLICY } from '../../../config/settings/entries/guard.ts';
import {
  FRAMES,
  LONG_AUDIO_MODE,
  VIDEO_FRAMES,
  VIDEO_INTERVAL,
} from '../../../config/settings/entries/judging.ts';
import { RUNS_FOLDER } from '../../../config/settings/entries/output.ts';
import { type Flags, resolveSettings } from '../../../config/settings/given.ts';
import { Failure } from '../../../domain/failure.ts';
import type { CommandContext } from '../../context.ts';
import { readGatewayToken, readReleaseToken } from '../../flags/server-access.ts';
import { examples, newCommand } from '../../new-command.ts';

/** The same number of requests may wait; further ones get status 429. */
const MAX_CONCURRENT_REQUESTS = 256;

/** Time from the headers of a request to its reply; after that its status is 504. */
const REQUEST_TIMEOUT_MS = 50_000;

const SETTINGS = {
  out: RUNS_FOLDER,
  root: CONTENT_ROOT,
  guard: GATEWAY_GUARD,
  ...GUARD_TLS_SETTINGS,
  guardPolicy: GUARD_POLICY,
  redis: REDIS,
  port: GATEWAY_PORT,
  host: GATEWAY_HOST,
  noDashboard: DASHBOARD,
  frames: FRAMES,
  longAudio: LONG_AUDIO_MODE,
  videoInterval: VIDEO_INTERVAL,
  videoFrames: VIDEO_FRAMES,
  startWait: START_WAIT,
  logFormat: LOG_FORMAT,
};

/** `serve`: the dashboard, and a REST gateway to the guards. */
export function serveCommand(context: CommandContext): Command {
  return newCommand('serve', context, SETTINGS)
    .summary('serve the dashboard, and the REST API of a guard in front of any guards')
    .description(
      'Serve the dashboard under /, and POST /v1/moderations/text, /image and /audio in front of any guards, over HTTP ' +
        'until interrupted. Prints a link to log in with. The API is described under /openapi.json. ' +
        'An interrupt lets open requests finish, for at most 10 s.',
    )
    .addHelpText(
      'after',
      examples([
        ['guardsweep serve', 'look at the runs in ./runs'],
        ['guardsweep serve --guard grpc://gpu-1:8001', 'the API too, both on 127.0.0.1:9000'],
        ['guardsweep serve --guard embedded: --port 0', 'to try it out, on a free port'],
      ]),
    )
    .action(async (flags: Flags) => {
      const { env, interrupts, stdout, stderr } = context;
      const from = { flags, ...context };
      const settings = await resolveSettings(SETTINGS, from);
      const {
        guard: named,
        host,
        port,
        frames,
        longAudio,
        videoInterval,
        videoFrames,
        guardPolicy,
      } = settings;
      const guards = named ?? [];
      const token = readGatewayToken(host, env);
      const releaseToken = readReleaseToken(env);
      const tls = await readGuardTls(await resolveGuardTlsFiles(from), guards);
      const startWaitMs = settings.startWait;
      // No reply names a model, so no request waits for it.
      const forServer = { expectFingerprint: null, maxWaitMs: null, stampVerdicts: false };
      const [{ guardOpener }, { serve }] = await Promise.all([
        import('../../../guard-setup/guard-session.ts'),
        import('../../../dashboard/serve.ts'),
      ]);
      const { out, root: roots, redis, noDashboard: withDashboard } = settings;
      if (!withDashboard && guards.length === 0) throw new Failure('usage', NEEDS_GUARD);
      const openGuards = guardOpener(
        // Runs can be browsed while no guard is ready.
        { guards, tls, guardPolicy, startWaitMs, waitsForGuards: !withDashboard, ...forServer },
        env,
      );
      await serve(
        {
          ...{ host, port, token, stdout },
          maxConcurrency: MAX_CONCURRENT_REQUESTS,
          timeoutMs: REQUEST_TIMEOUT_MS,
          judging: { frames, longAudio, videoInterval, videoFrames },
          openGuards,
          needsGuard: guards.length > 0,
          dashboard: withDashboard ? { out, roots, redis, env, releaseToken } : null,
          say: stderr.say,
        },
        interrupts,
      );
    });
}

const NEEDS_GUARD = 'the gateway needs a guard: name it with --guard or GUARD_URL (embedded: is one)';
