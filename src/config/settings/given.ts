import { Failure } from '../../domain/failure.ts';
import type { JobFile } from '../job-file/job-file.ts';
import { z } from 'zod';
import type { KeyPath } from '../yaml-file.ts';
import type { Setting, Texts } from './setting.ts';

type FlagValue = string | readonly string[] | boolean;

/** Flags as typed, by name in camel case (`maxWait`); a flag that is absent was not given. */
export type Flags = Readonly<Record<string, FlagValue | undefined>>;

/** All origins of a setting's value, except its default. */
export interface Sources {
  readonly flags: Flags;
  readonly file?: JobFile | null;
  readonly env: NodeJS.ProcessEnv;
  /** Absolute folder to which paths in flags are relative. */
  readonly cwd: string;
}

/** A user's value for a setting. */
interface Given {
  readonly texts: Texts;
  /** Absolute folder to which paths in the value are relative. */
  readonly folder: string;
}

/** Settings by the names that a command uses for them. */
export type SettingTable = Readonly<Record<string, Setting>>;

type ValuesOf<Table extends SettingTable> = {
  readonly [Name in keyof Table]: Table[Name] extends Setting<infer T> ? T : never;
};

/**
 * Finds a user's value for a setting: from its flag, else the job file, else the environment, else null. `item` is the
 * index in the list that contains the setting's key, such as `sources[].text`.
 */
export function given(setting: Setting, from: Sources, item = 0): Given | null {
  return inFlags(setting, from) ?? inFile(setting, from, item) ?? inEnvironment(setting, from);
}

function inFlags({ flag }: Setting, { flags, cwd }: Sources): Given | null {
  const value = flag === null ? undefined : flags[flagName(flag)];
  // False if it was typed for some files only.
  if (value === undefined || value === false) return null;
  // A switch that begins with `--no-` turns its setting off.
  const texts = flag!.startsWith('--no-') ? ['false'] : [value].flat().map(String);
  const [first, ...more] = texts.map((text) => ({ value: text, place: flag! }));
  return first === undefined ? null : { texts: [first, ...more], folder: cwd };
}

/**
 * The name under which a flag is given: `--max-wait` as `maxWait`. A flag after `--for` keeps its form, because it
 * names a glob.
 */
export function flagName(flag: string): string {
  return flag.includes(' ')
    ? flag
    : flag.slice(2).replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function inFile({ key }: Setting, { file = null }: Sources, item: number): Given | null {
  if (key === null || file === null) return null;
  const path = key.split('.').flatMap((step) => {
    if (step.endsWith('[]')) return [step.slice(0, -2), item];
    return [/^\d+$/.test(step) ? Number(step) : step];
  });
  const texts = textsAt(file, path);
  return texts === null ? null : { texts, folder: file.folder };
}

function inEnvironment({ variable, kind }: Setting, { env, cwd }: Sources): Given | null {
  if (variable === null) return null;
  const text = env[variable.name] ?? '';
  const values = (kind.isList ? text.split(/[\s,]+/) : [text.trim()]).filter((value) => value !== '');
  const [first, ...more] = values.map((value) => ({ value, place: variable.name }));
  return first === undefined ? null : { texts: [first, ...more], folder: cwd };
}

/** Parses a user's value for a setting; null if there is none. Failure('usage') names the origin of a mistake. */
export async function resolveSetting<T>(setting: Setting<T>, from: Sources, item = 0): Promise<T | null> {
  const found = given(setting, from, item);
  if (found === null) return null;
  return setting.kind.parse(found.texts, { folder: found.folder, cwd: from.cwd, env: from.env });
}

/**
 * Resolves a setting: the user's value, else its default. Failure('usage') for a mistake, or if a required value is
 * missing.
 */
export async function valueOf<T>(setting: Setting<T>, from: Sources, item = 0): Promise<T> {
  const value = await resolveSetting(setting, from, item);
  if (value !== null) return value;
  const { absent, kind } = setting;
  const { cwd, env } = from;
  if (absent.is === 'required') throw new Failure('usage', absent.message);
  // The type of an optional setting includes null.
  if (absent.is === 'unset') return null as T;
  const text = { value: absent.value, place: `default of ${setting.flag ?? setting.key}` };
  return kind.parse([text], { folder: cwd, cwd, env });
}

/** Resolves several settings, parsing them in order. */
export async function resolveSettings<Table extends SettingTable>(
  table: Table,
  from: Sources,
  item = 0,
): Promise<ValuesOf<Table>> {
  const values: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries(table)) values[name] = await valueOf(setting, from, item);
  return values as ValuesOf<Table>;
}

type Scalar = string | number | boolean;

/**
 * The value or list of values at a path of a job file, as strings, each with its origin; null if absent. A mapping is
 * read as a list of `key=value`.
 */
function textsAt({ yaml }: JobFile, path: KeyPath): Texts | null {
  let node: unknown = yaml.data;
  for (const step of path) {
    if (typeof node !== 'object' || node === null) return null;
    node = Reflect.get(node, step) as unknown;
  }
  if (node === undefined) return null;
  // The schema check guarantees that settings are scalars, lists of scalars, or mappings to scalars.
  const located = (at: KeyPath, value: Scalar) => ({
    value: String(value),
    place: `${yaml.at(at)}: ${z.core.toDotPath(at)}`,
  });
  if (typeof node !== 'object' || node === null) return [located(path, node as Scalar)];
  if (!Array.isArray(node)) {
    const [first, ...more] = Object.entries(node).map(([key, value]: [string, Scalar]) =>
      located([...path, key], `${key}=${value}`),
    );
    return first === undefined ? null : [first, ...more];
  }
  const [first, ...more] = node.map((value: Scalar, index) => located([...path, index], value));
  return first === undefined ? null : [first, ...more];
}
