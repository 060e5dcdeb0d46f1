import type { Command, Option } from 'commander';
import { Failure } from '../domain/failure.ts';

/** Flags that npm takes for the beginning of one of its own, with the name of that one. Without --head, verify checks less. */
const ABBREVIATES: Readonly<Record<string, string>> = { '--head': 'heading' };

/** Settings of npm's own with the name of a flag: a machine's .npmrc may hold them, so they tell nothing. */
const OWN_SETTINGS: ReadonlySet<string> = new Set(['audit', 'json', 'name', 'quiet']);

/**
 * Failure('usage') for flags that npm kept for itself: `npm run enqueue ./x --policy=p` gives `--policy` to npm, which
 * passes it on only as the variable `npm_config_policy`. `command`: the first argument.
 */
export function refuseLostFlags(command: string | undefined, program: Command, env: NodeJS.ProcessEnv): void {
  const isScript = /^run/.test(env['npm_command'] ?? '') && env['npm_lifecycle_event'] === command;
  if (command === undefined || !isScript) return;
  const flags = new Set<string>();
  for (const { options } of program.commands) {
    for (const option of options) if (isLost(option, env)) flags.add(option.long!);
  }
  if (flags.size === 0) return;
  throw new Failure(
    'usage',
    `npm took ${[...flags].join(', ')} for itself: put -- in front of the arguments, as in: npm run ${command} -- ${[...flags][0]!} …`,
  );
}

function isLost({ long }: Option, env: NodeJS.ProcessEnv): boolean {
  if (long == null) return false;
  const name = ABBREVIATES[long] ?? long.replace(/^--(no-)?/, '').replaceAll('-', '_');
  const kept = env[`npm_config_${name}`];
  // npm passes a switch that is off on as nothing.
  return kept !== undefined && !OWN_SETTINGS.has(name) && (kept === '') === long.startsWith('--no-');
}
