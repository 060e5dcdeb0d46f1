import type { Command } from 'commander';
import { GUARD_TLS_SETTINGS, guardTlsFilesOf, readGuardTls } from '../../config/keys/guard-tls.ts';
import {
  GATEWAY_HOST,
  GATEWAY_PORT,
  MAX_CONCURRENT_REQUESTS,
  REQUEST_TIMEOUT,
} from '../../config/settings/entries/gateway.ts';
import { GATEWAY_GUARD } from '../../config/settings/entries/guard.ts';
import { FRAMES, LONG_AUDIO_MODE, LONG_TEXT_MODE } from '../../config/settings/entries/judging.ts';
import { START_WAIT } from '../../config/settings/entries/waiting.ts';
import { valuesOf, type Flags } from '../../config/settings/given.ts';
import { guardOpener } from '../../guard-setup/guard-session.ts';
import type { CommandContext } from '../context.ts';
import { gatewayTokenOf } from '../flags/gateway-token.ts';
import { examples, newCommand } from '../new-command.ts';

const SETTINGS = {
  guard: GATEWAY_GUARD,
  ...GUARD_TLS_SETTINGS,
  port: GATEWAY_PORT,
  host: GATEWAY_HOST,
  maxConcurrency: MAX_CONCURRENT_REQUESTS,
  timeout: REQUEST_TIMEOUT,
  frames: FRAMES,
  longAudio: LONG_AUDIO_MODE,
  longText: LONG_TEXT_MODE,
  startWait: START_WAIT,
};

/** `serve`: the REST API of the guard's contract, in front of any guards. */
export function serveCommand(context: CommandContext): Command {
  return newCommand('serve', context, SETTINGS)
    .summary('serve the REST API of a guard in front of any guards')
    .description(
      'Serve POST /v1/moderations/text, /image and /audio over HTTP in front of any guards until interrupted. ' +
        'The API is described under /openapi.json. An interrupt lets open requests finish, for at most 10 s.',
    )
    .addHelpText(
      'after',
      examples([
        ['guardsweep serve --guard grpc://gpu-1:8001', 'listen on 127.0.0.1:9000'],
        ['guardsweep serve --guard embedded: --port 0', 'to try it out, on a free port'],
      ]),
    )
    .action(async (flags: Flags) => {
      const { env, interrupts, stdout, stderr } = context;
      const from = { flags, ...context };
      const settings = await valuesOf(SETTINGS, from);
      const { guard: guards, host, port, maxConcurrency, frames, longAudio, longText } = settings;
      const token = gatewayTokenOf(host, env);
      const tls = await readGuardTls(await guardTlsFilesOf(from), guards);
      const startWaitMs = settings.startWait;
      // No reply names a model, so none waits for it.
      const forServer = { expectFingerprint: null, maxWaitMs: null, stampVerdicts: false };
      const opening = { guards, tls, startWaitMs, ...forServer };
      const { serveGateway } = await import('../../gateway/serve.ts');
      await serveGateway(
        {
          ...{ host, port, token, maxConcurrency, stdout },
          timeoutMs: settings.timeout,
          judging: { frames, longAudio, longText },
          openGuards: guardOpener(opening, env),
          say: (line) => stderr.line(`guardsweep: ${line}`),
        },
        interrupts,
      );
    });
}
