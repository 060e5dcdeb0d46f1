import type { Command, Option } from 'commander';
import { Failure } from '../../domain/failure.ts';
import { shellWord } from '../../domain/text/shell-word.ts';
import { OUTPUT_FORMATS } from '../../config/run-config.ts';
import { readNpmSettings, type NpmSettings } from './npm-settings.ts';

/** Flags that npm takes for the beginning of a longer one of its own, with the name of that one. */
const ABBREVIATES: Readonly<Record<string, string>> = { '--head': 'heading' };

/** Between the values of a flag that was given several times. */
const BETWEEN_VALUES = '\n\n';

/** Words of a command line that a message repeats. */
const MAX_WORDS = 12;

/** A flag that npm kept. */
interface LostFlag {
  /** `--policy`. */
  readonly flag: string;
  /** Null for a switch, and if npm left the value among the arguments. */
  readonly value: string | null;
  readonly lacksValue: boolean;
}

/**
 * Failure('usage') for flags that npm kept for itself: `npm run enqueue ./x --policy=p` gives `--policy` to npm, which
 * passes it on only as a variable. `argv`: the command and its arguments, as npm passed them on.
 */
export async function refuseLostFlags(
  argv: readonly string[],
  program: Command,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const [name, ...words] = argv;
  if (name === undefined || !isScript(name, env)) return;
  const settings = await readNpmSettings(env);
  const flags = allFlags(program).flatMap((option) => lostFlags(option, env, settings));
  const formats = name === 'enqueue' ? words.filter(isLostFormat) : [];
  if (formats.length > 0) flags.push({ flag: '--format', value: formats.join(','), lacksValue: false });
  if (flags.length === 0) return;
  const names = [...new Set(flags.map(({ flag }) => flag))].join(', ');
  const rest = words.filter((word) => !formats.includes(word));
  throw new Failure(
    'usage',
    `npm took ${names} for itself, because -- is missing in front of the arguments; type: ${corrected(name, rest, flags)}`,
  );
}

/** Whether npm runs the script of a command. */
function isScript(name: string, env: NodeJS.ProcessEnv): boolean {
  return /^run/.test(env['npm_command'] ?? '') && env['npm_lifecycle_event'] === name;
}

function allFlags(program: Command): Option[] {
  const byName = new Map<string, Option>();
  for (const { options } of program.commands) {
    for (const option of options) if (option.long) byName.set(option.long, option);
  }
  return [...byName.values()];
}

function lostFlags(option: Option, env: NodeJS.ProcessEnv, settings: NpmSettings): LostFlag[] {
  const flag = option.long!;
  if (flag === '--quiet') return isQuiet(env, settings) ? [{ flag, value: null, lacksValue: false }] : [];
  const isNegated = flag.startsWith('--no-');
  const name = ABBREVIATES[flag] ?? flag.replace(/^--(no-)?/, '').replaceAll('-', '_');
  const kept = env[`npm_config_${name}`];
  // npm has no other value for `--no-x`.
  if (kept === undefined || (kept === '') !== isNegated || settings.fromElsewhere(name, kept)) return [];
  if (!option.required) return [{ flag, value: null, lacksValue: false }];
  return kept.split(BETWEEN_VALUES).map((value) => {
    const lacksValue = value === 'true';
    return { flag, value: lacksValue ? null : value, lacksValue };
  });
}

/** npm turns `--quiet` and `-q` into this level. Elsewhere it may be set for a whole machine. */
function isQuiet(env: NodeJS.ProcessEnv, settings: NpmSettings): boolean {
  const isWarn = env['npm_config_loglevel'] === 'warn';
  return isWarn && settings.isComplete && !settings.fromElsewhere('loglevel', 'warn');
}

/** npm takes `--format` for a switch of its own, and what follows it for an argument. The value of a flag is not lost. */
function isLostFormat(word: string, at: number, words: readonly string[]): boolean {
  if (words[at - 1]?.startsWith('-') === true) return false;
  return word.split(',').every((each) => (OUTPUT_FORMATS as readonly string[]).includes(each));
}

function corrected(name: string, words: readonly string[], flags: readonly LostFlag[]): string {
  const lacking = flags.filter(({ lacksValue }) => lacksValue).length;
  // Which words are the values of several flags cannot be known.
  if (lacking > 1) return `npm run ${name} -- first, then the rest as before`;
  const paths = lacking === 1 ? words.slice(0, -1) : words;
  const shown = paths.slice(0, MAX_WORDS).map(shellWord);
  if (paths.length > MAX_WORDS) shown.push('…');
  for (const { flag, value, lacksValue } of flags) {
    const given = lacksValue ? (words.at(-1) ?? null) : value;
    shown.push(given === null ? flag : `${flag} ${shellWord(given)}`);
  }
  return ['npm run', name, '--', ...shown].join(' ');
}
