import type { Command } from 'commander';
import { GUARD_TOKEN } from '../../../config/settings/entries/environment.ts';
import {
  ALL_SCORES,
  FAULTS,
  GRPC_PORT,
  GUARD_METRICS_PORT,
  HOST,
  HTTP_PORT,
  LOAD_MODEL,
  LOG_FORMAT,
  MODEL,
  MODEL_CONTROL,
} from '../../../config/settings/entries/servers.ts';
import { type Flags, resolveSettings } from '../../../config/settings/given.ts';
import type { CommandContext } from '../../context.ts';
import { examples, newCommand } from '../../new-command.ts';

const SETTINGS = {
  model: MODEL,
  allScores: ALL_SCORES,
  host: HOST,
  grpcPort: GRPC_PORT,
  httpPort: HTTP_PORT,
  metricsPort: GUARD_METRICS_PORT,
  modelControl: MODEL_CONTROL,
  loadModel: LOAD_MODEL,
  faults: FAULTS,
  logFormat: LOG_FORMAT,
};

/** `guard`: the embedded guard as a server. */
export function guardCommand(context: CommandContext): Command {
  return newCommand('guard', context, SETTINGS)
    .summary('serve the embedded demonstration guard over gRPC and HTTP')
    .description(
      'Serve the embedded demonstration guard over gRPC and HTTP (KServe v2) until interrupted.\n' +
        'It implements the full guard contract, but its "allow" does not mean harmless.',
    )
    .addHelpText(
      'after',
      examples([
        ['guardsweep guard', 'gRPC on 127.0.0.1:8001, HTTP on port 8000, metrics on port 8002'],
        [
          'guardsweep guard --model synthetic --grpc-port 0 --http-port 0 --metrics-port 0',
          'a guard for load tests on free ports',
        ],
      ]),
    )
    .action(async (flags: Flags) => {
      const settings = await resolveSettings(SETTINGS, { flags, ...context });
      const { serveGuard } = await import('../../../guard-server/serve.ts');
      await serveGuard(
        { ...settings, faults: settings.faults ?? undefined, token: context.env[GUARD_TOKEN.name] ?? null },
        context.interrupts,
        context.stdout,
      );
    });
}
