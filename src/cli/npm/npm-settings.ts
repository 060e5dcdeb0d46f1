import { join } from 'node:path';
import { readWholeFile } from '../../files/open-file.ts';

/** Larger files are not read. */
const MAX_BYTES = 256 * 1024;

/** How many processes above this one are looked at: a shell or two, then npm. */
const MAX_ANCESTORS = 6;

/** What npm was given other than by its command line. */
export interface NpmSettings {
  /** Whether a setting, with underscores in its name, was given this value there. */
  fromElsewhere(name: string, value: string): boolean;
  /** Whether npm's own environment is known. */
  readonly isComplete: boolean;
}

/**
 * Reads what npm reads besides its command line: its environment, which Linux shows, and the files .npmrc of the
 * package, of the user and of the machine. `env` is the environment that npm gave to its script.
 */
export async function readNpmSettings(env: NodeJS.ProcessEnv): Promise<NpmSettings> {
  const environment = await environmentOfNpm(env);
  const files = [
    join(env['npm_config_local_prefix'] ?? '', '.npmrc'),
    env['npm_config_userconfig'] ?? '',
    env['npm_config_globalconfig'] ?? '',
  ];
  const set = new Map<string, Set<string>>();
  const add = (name: string, value: string): void => {
    const key = name.toLowerCase().replaceAll('-', '_');
    // npm passes a switch that is off on as nothing.
    const passedOn = value === 'false' || value === 'null' ? '' : value;
    set.set(key, (set.get(key) ?? new Set<string>()).add(passedOn));
  };
  for (const file of files) for (const [name, value] of npmrcEntries(await textOf(file))) add(name, value);
  for (const [name, value] of [...(environment ?? []), ...upperCase(env)]) {
    if (/^npm_config_/i.test(name)) add(name.slice('npm_config_'.length), value);
  }
  return {
    fromElsewhere: (name, value) => set.get(name)?.has(value) === true,
    isComplete: environment !== null,
  };
}

/** npm writes its variables in lower case; one in upper case is the user's. */
function upperCase(env: NodeJS.ProcessEnv): [name: string, value: string][] {
  return Object.entries(env).flatMap(([name, value]) =>
    name.startsWith('NPM_CONFIG_') && value !== undefined ? [[name, value] as [string, string]] : [],
  );
}

/** `name=value` per line; a name alone is `true`. */
function npmrcEntries(text: string): [name: string, value: string][] {
  return text.split('\n').flatMap((line) => {
    const [, name, , value] = /^\s*([\w-]+)\s*(=(.*))?$/.exec(line.trimEnd()) ?? [];
    if (name === undefined) return [];
    // linear: anchored at both ends; it is applied to a line of the user's own .npmrc.
    const unquoted = value === undefined ? 'true' : value.trim().replace(/^(["'])(.*)\1$/, '$2');
    return [[name, unquoted] as [string, string]];
  });
}

/** The environment that npm was started with; null where it cannot be read. */
async function environmentOfNpm(env: NodeJS.ProcessEnv): Promise<[name: string, value: string][] | null> {
  let pid = process.ppid;
  for (let ancestor = 0; ancestor < MAX_ANCESTORS && pid > 1; ancestor++) {
    const entries = (await textOf(`/proc/${pid}/environ`)).split('\0').flatMap((entry) => {
      const at = entry.indexOf('=');
      return at < 0 ? [] : [[entry.slice(0, at), entry.slice(at + 1)] as [string, string]];
    });
    if (entries.length === 0) return null;
    // npm gives this variable to its script, and to all that the script starts.
    const event = entries.find(([name]) => name === 'npm_lifecycle_event')?.[1];
    if (event !== env['npm_lifecycle_event']) return entries;
    pid = parentOf(await textOf(`/proc/${pid}/stat`));
  }
  return null;
}

/** proc(5), field 4; the name before it may hold anything. */
function parentOf(stat: string): number {
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] ?? 0);
}

/** Empty for a file that cannot be read. */
async function textOf(path: string): Promise<string> {
  try {
    return (await readWholeFile(path, { maxBytes: MAX_BYTES, links: 'follow' })).toString();
  } catch {
    return '';
  }
}
