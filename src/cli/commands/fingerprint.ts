import type { Command } from 'commander';
import { GUARD_TLS_SETTINGS, resolveGuardTlsFiles, readGuardTls } from '../../config/keys/guard-tls.ts';
import { JSON_OUTPUT } from '../../config/settings/entries/commands.ts';
import { GUARD, GUARD_POLICY } from '../../config/settings/entries/guard.ts';
import { type Flags, resolveSettings } from '../../config/settings/given.ts';
import { isDeclared } from '../../domain/fingerprint.ts';
import { quoteName } from '../../domain/text/escape-text.ts';
import type { EndpointReading } from '../../guard/pool/read-endpoint.ts';
import type { CommandContext } from '../context.ts';
import { examples, newCommand } from '../new-command.ts';

const ANSWER_WITHIN_MS = 30_000;

/** Maximum artifacts listed; `--json` lists all. */
const MAX_ARTIFACTS = 200;

function linesOf(reading: EndpointReading): string[] {
  if (reading.fingerprint === null) {
    const transport = reading.kind === 'rest' ? 'REST' : 'a WebSocket';
    return [
      `${reading.name}  judges, and has no fingerprint: over ${transport} a guard does not tell which model it runs`,
    ];
  }
  const { name, model, modelVersion, fingerprint } = reading;
  const version = modelVersion === '' ? '' : ` version ${quoteName(modelVersion)}`;
  const artifacts = Object.entries(fingerprint.artifacts);
  if (isDeclared(fingerprint.id)) {
    return [
      `${name}  model ${quoteName(model)}${version}: as it declares, which nothing proves`,
      fingerprint.id,
      ...artifacts.map(([declared, value]) => `  ${declared}  ${quoteName(value)}`),
    ];
  }
  const more = artifacts.length - MAX_ARTIFACTS;
  return [
    `${name}  model ${quoteName(model)}${version}`,
    fingerprint.id,
    ...artifacts.slice(0, MAX_ARTIFACTS).map(([artifact, sha256]) => `  ${sha256}  ${quoteName(artifact)}`),
    ...(more > 0 ? [`  and ${more.toLocaleString('en-US')} more`] : []),
  ];
}

const SETTINGS = { guard: GUARD, guardPolicy: GUARD_POLICY, ...GUARD_TLS_SETTINGS, json: JSON_OUTPUT };

/** `fingerprint`: show which model answers at an endpoint. */
export function fingerprintCommand(context: CommandContext): Command {
  return newCommand('fingerprint', context, SETTINGS)
    .summary('show which model answers at a guard endpoint')
    .description(
      'Show which model answers at a guard endpoint: its fingerprint id and the SHA-256 of its artifacts.\n' +
        'Status 4 when an endpoint does not answer within 30 s.',
    )
    .addHelpText(
      'after',
      examples([
        ['guardsweep fingerprint --guard grpc://gpu-1:8001', 'the id for --expect-fingerprint'],
        ['guardsweep fingerprint --json', 'every endpoint of GUARD_URL, for a program'],
      ]),
    )
    .action(async (flags: Flags) => {
      const from = { flags, ...context };
      const { guard: urls, guardPolicy, json } = await resolveSettings(SETTINGS, from);
      const tls = await readGuardTls(await resolveGuardTlsFiles(from), urls);
      const { env, interrupts, stdout } = context;
      const { readGuards } = await import('../../guard-setup/read-guards.ts');
      const readings = await readGuards(urls, {
        env,
        tls,
        guardPolicy,
        timeoutMs: ANSWER_WITHIN_MS,
        signal: interrupts.drain,
      });
      if (json) stdout.json(readings, 2);
      else stdout.lines(readings.flatMap((one, at) => [...(at > 0 ? [''] : []), ...linesOf(one)]));
    });
}
