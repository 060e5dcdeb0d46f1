import { resolve } from 'node:path';
import { Option, type Command } from 'commander';
import { Failure } from '../../domain/failure.ts';
import { serveGuard, type ServeOptions } from '../../guard-server/serve.ts';
import type { CommandContext } from '../context.ts';
import { flag } from '../flags/flags.ts';
import { examples, newCommand } from '../new-command.ts';

interface GuardOptions {
  readonly model: ServeOptions['model'];
  readonly host?: string;
  readonly grpcPort?: string;
  readonly faults?: string;
}

const DEFAULT_GRPC_PORT = '8001';

function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(port <= 65_535)) throw new Failure('usage', '--grpc-port: expected a port of 0 to 65535');
  return port;
}

/** `guard`: the embedded guard as a server. */
export function guardCommand(context: CommandContext): Command {
  return newCommand('guard', context)
    .summary('serve the embedded demonstration guard over gRPC')
    .description(
      'Serve the embedded demonstration guard over gRPC (KServe v2) until interrupted.\n' +
        'It keeps the whole contract of a guard, but what it allows is no evidence of absence.',
    )
    .addOption(
      new Option(
        '--model <model>',
        'lite: a small text classifier; synthetic: scores and delays made up for load and fault tests',
      )
        .choices(['lite', 'synthetic'])
        .default('lite'),
    )
    .addOption(
      flag('--host <address>', {
        what: 'address to listen on; any but a loopback address needs GUARD_TOKEN set, which callers must then send',
        fallback: '127.0.0.1',
        example: '0.0.0.0',
      }),
    )
    .addOption(
      flag('--grpc-port <port>', {
        what: 'port for gRPC, 0 to 65535; 0: a free one, which is printed',
        fallback: DEFAULT_GRPC_PORT,
        example: '9001',
      }),
    )
    .addOption(
      flag('--faults <file>', {
        what: 'fault script (JSON) of the synthetic model, read again on SIGHUP',
        fallback: 'no faults',
        example: 'faults.json',
      }),
    )
    .addHelpText(
      'after',
      examples([
        ['guardsweep guard', 'listen on 127.0.0.1:8001'],
        ['guardsweep guard --model synthetic --grpc-port 0', 'a guard for load tests on a free port'],
      ]),
    )
    .action(async (options: GuardOptions) => {
      const { model, host = '127.0.0.1', grpcPort = DEFAULT_GRPC_PORT, faults } = options;
      await serveGuard(
        {
          model,
          host,
          grpcPort: parsePort(grpcPort),
          faults: faults === undefined ? undefined : resolve(context.cwd, faults),
          token: context.env['GUARD_TOKEN'] ?? null,
        },
        context.interrupts.drain,
        context.stdout,
      );
    });
}
