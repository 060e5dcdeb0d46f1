import { CommanderError, type Command, type Option } from 'commander';
import { readSecretFiles } from '../config/keys/secret-files.ts';
import { DEBUG } from '../config/settings/entries/environment.ts';
import { LOG_FORMAT } from '../config/settings/entries/servers.ts';
import { type Flags, flagName, valueOf } from '../config/settings/given.ts';
import { replacementFor } from '../config/settings/removed.ts';
import { Failure } from '../domain/failure.ts';
import { formatCliCommand } from '../domain/text/escape-text.ts';
import { isDiskFull } from '../files/disk-full.ts';
import { FileTooLargeError, NotRegularFileError } from '../files/open-file.ts';
import type { LineWriter } from '../terminal/line-writer.ts';
import type { CommandContext, LoadRuns } from './context.ts';
import { buildProgram } from './program.ts';

/**
 * Flags that npm takes for an abbreviation of one of its own, with the full name of that one. Without --head, verify
 * checks less.
 */
const ABBREVIATES: Readonly<Record<string, string>> = { '--head': 'heading' };

/**
 * npm settings that have the same name as one of our flags. A machine's .npmrc may set them, so they are no evidence.
 */
const OWN_SETTINGS: ReadonlySet<string> = new Set(['audit', 'json', 'name', 'quiet']);

/**
 * Runs one command line (the arguments after the program's name) and returns its exit status. A failure is one line on
 * stderr; results are on stdout. Never rejects.
 */
export async function runCli(
  argv: readonly string[],
  context: CommandContext,
  loadRuns: LoadRuns,
): Promise<number> {
  let exitStatus = 0;
  try {
    const withSecrets = { ...context };
    const program = buildProgram(withSecrets, loadRuns, (status) => (exitStatus = status));
    // Before flags are parsed, so mistakes in them are logged too.
    program.hook('preSubcommand', (_, command) => {
      if (isLogged(command)) context.stderr.logAs(context.stderr.isTerminal ? 'text' : 'json');
    });
    program.hook('preAction', async (_, command) => {
      const format = isLogged(command)
        ? await valueOf(LOG_FORMAT, { flags: command.opts<Flags>(), ...context })
        : null;
      if (format !== null) context.stderr.logAs(format);
      if (command.name() !== 'help') withSecrets.env = await readSecretFiles(context.env, context.cwd);
    });
    refuseLostFlags(argv[0], program, context.env);
    await program.parseAsync(argv, { from: 'user' });
    return exitStatus;
  } catch (error) {
    if (error instanceof CommanderError && isExpectedEnd(error)) return 0;
    const interrupted = isAbort(error) && context.interrupts.drain.aborted;
    if (interrupted)
      return reportFailure(new Failure('interrupted', 'interrupted', { cause: error }), context);
    const help = formatCliCommand('help', argv.slice(0, 1), context.env);
    return reportFailure(error instanceof CommanderError ? usageFailure(error, help) : error, context);
  }
}

/** Whether a command keeps running and uses stderr as a log. */
const isLogged = ({ options }: Command): boolean => options.some(({ long }) => long === LOG_FORMAT.flag);

/**
 * Failure('usage') for flags that npm kept for itself: `npm run enqueue ./x --policy=p` gives `--policy` to npm, which
 * passes it on only as the variable `npm_config_policy`. `command` is the first argument.
 */
function refuseLostFlags(command: string | undefined, program: Command, env: NodeJS.ProcessEnv): void {
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
  // npm passes on a switch that is off as an empty string.
  return kept !== undefined && !OWN_SETTINGS.has(name) && (kept === '') === long.startsWith('--no-');
}

const isAbort = (error: unknown): boolean => error instanceof Error && error.name === 'AbortError';

/** Prints one line on stderr with the reason why a command failed, and returns its exit status. */
export function reportFailure(
  error: unknown,
  { stderr, env }: { readonly stderr: LineWriter; readonly env: NodeJS.ProcessEnv },
): number {
  const failure = failureOf(error);
  const fields = { level: 'error', event: 'failed', code: failure.kind } as const;
  stderr.say(failure.message, fields);
  if (env[DEBUG.name] === '1') stderr.lines(describeUnexpected(error), fields);
  return failure.exitStatus;
}

function failureOf(error: unknown): Failure {
  if (error instanceof Failure) return error;
  if (isDiskFull(error)) {
    return new Failure('service', 'the disk is full: free some space, then try again', { cause: error });
  }
  if (error instanceof NotRegularFileError || error instanceof FileTooLargeError) {
    return new Failure('internal', `${error.path} cannot be used: ${error.message}`, { cause: error });
  }
  return unexpectedFailure(error);
}

/** Whether commander ended the command because it printed the help or version that was asked for. */
export function isExpectedEnd(error: CommanderError): boolean {
  return error.code === 'commander.helpDisplayed' || error.code === 'commander.version';
}

/** Error codes for which the message points to the command's help. */
const EXPLAINED_BY_HELP: ReadonlySet<string> = new Set([
  'commander.missingArgument',
  'commander.excessArguments',
]);

/**
 * Converts commander's complaint about the command line to one of ours: one line, exit status 2. `help` is the command
 * that prints the relevant help.
 */
export function usageFailure(error: CommanderError, help: string): Failure {
  if (error.code === 'commander.help') {
    return new Failure('usage', 'no command given; guardsweep help lists them', { cause: error });
  }
  const complaint = error.message.replace(/^error: /, '').replace(/\.$/, '');
  const removed = /^unknown option '(--[a-z-]+)'/.exec(complaint)?.[1];
  const instead = removed === undefined ? null : replacementFor(flagName(removed));
  if (instead !== null) return new Failure('usage', `${removed} was removed: ${instead}`, { cause: error });
  const message = nearChoice(complaint);
  const see = EXPLAINED_BY_HELP.has(error.code) ? `; see: ${help}` : '';
  return new Failure('usage', message + see, { cause: error });
}

/** Moves commander's proposal, which follows a line break, to the same line. */
function nearChoice(message: string): string {
  const proposal = '\n(Did you mean ';
  const at = message.lastIndexOf(proposal);
  if (at < 0 || !message.endsWith(')')) return message;
  return `${message.slice(0, at)}; did you mean ${message.slice(at + proposal.length, -1)}`;
}

/** Turns an unexpected error into a failure with exit status 1. Its message may quote what was being read. */
export function unexpectedFailure(error: unknown): Failure {
  const name = error instanceof Error ? error.name : typeof error;
  const code = error instanceof Error && 'code' in error ? ` ${String(error.code)}` : '';
  return new Failure(
    'internal',
    `unexpected error (${name}${code}); GUARDSWEEP_DEBUG=1 shows where it happened`,
    { cause: error },
  );
}

/**
 * Describes the origin of an error and its causes for a developer: names, codes and stack frames, one per line. Omits
 * messages, since they can quote content.
 */
export function describeUnexpected(error: unknown): string[] {
  const lines: string[] = [];
  let current = error;
  for (let depth = 0; current instanceof Error && depth < 8; depth++, current = current.cause) {
    const code = 'code' in current ? ` (${String(current.code)})` : '';
    const stack = current.stack ?? '';
    const afterMessage = stack.slice(stack.indexOf(current.message) + current.message.length);
    const frames = afterMessage.split('\n').filter((line) => /^\s+at /.test(line));
    lines.push(`${depth === 0 ? '' : 'caused by '}${current.name}${code}`, ...frames);
  }
  return lines;
}
