import type { Command } from 'commander';
import { shownName } from '../../domain/text/shown.ts';
import { readEndpoint, type EndpointReading } from '../../guard/pool/read-endpoint.ts';
import type { CommandContext } from '../context.ts';
import { endpointUrls } from '../../guard-setup/endpoint-urls.ts';
import { guardFlag, jsonFlag } from '../flags/flags.ts';
import { openGuardEndpoints } from '../../guard-setup/guard-endpoints.ts';
import { guardToken } from '../../guard-setup/guard-token.ts';
import { examples, newCommand } from '../new-command.ts';

const ANSWER_WITHIN_MS = 30_000;

/** Artifacts that are listed; `--json` has all. */
const MAX_ARTIFACTS = 200;

function linesOf(reading: EndpointReading): string[] {
  if (reading.kind === 'rest') {
    return [
      `${reading.name}  judges, and has no fingerprint: over REST a guard does not tell which model it runs`,
    ];
  }
  const { name, model, modelVersion, fingerprint } = reading;
  const artifacts = Object.entries(fingerprint.artifacts);
  const more = artifacts.length - MAX_ARTIFACTS;
  return [
    `${name}  model ${shownName(model)} version ${shownName(modelVersion)}`,
    fingerprint.id,
    ...artifacts.slice(0, MAX_ARTIFACTS).map(([artifact, sha256]) => `  ${sha256}  ${shownName(artifact)}`),
    ...(more > 0 ? [`  and ${more.toLocaleString('en-US')} more`] : []),
  ];
}

/** `fingerprint`: which model answers at an endpoint. */
export function fingerprintCommand(context: CommandContext): Command {
  return newCommand('fingerprint', context)
    .summary('show which model answers at a guard endpoint')
    .description(
      'Show which model answers at a guard endpoint: its fingerprint id and the SHA-256 of its artifacts.\n' +
        'Status 4 when an endpoint does not answer within 30 s.',
    )
    .addOption(guardFlag())
    .addOption(jsonFlag('print a JSON array with one object for each endpoint'))
    .addHelpText(
      'after',
      examples([
        ['guardsweep fingerprint --guard grpc://gpu-1:8001', 'the id for --expect-fingerprint'],
        ['guardsweep fingerprint --json', 'every endpoint of GUARD_URL, for a program'],
      ]),
    )
    .action(async (options: { guard?: readonly string[]; json?: boolean }) => {
      const signal = context.interrupts.drain;
      const urls = endpointUrls(options.guard, context.env);
      const guards = await openGuardEndpoints(urls, guardToken(context.env, urls));
      const { token } = guards;
      try {
        const readings: EndpointReading[] = [];
        for (const endpoint of guards.endpoints) {
          readings.push(await readEndpoint(endpoint, { timeoutMs: ANSWER_WITHIN_MS, signal, token }));
        }
        if (options.json) context.stdout.json(readings, 2);
        else context.stdout.lines(readings.flatMap((one, at) => [...(at > 0 ? [''] : []), ...linesOf(one)]));
      } finally {
        await guards.close();
      }
    });
}
