import { Failure } from '../../domain/failure.ts';
import type { JobFile } from '../job-file/job-file.ts';
import { z } from 'zod';
import type { KeyPath } from '../yaml-file.ts';
import type { Setting, Texts } from './setting.ts';

type FlagValue = string | readonly string[] | boolean;

/** Flags as typed, by their names in camel case (`maxWait`); absent ones were not given. */
export type Flags = Readonly<Record<string, FlagValue | undefined>>;

/** All places that may give a setting a value, but for its default. */
export interface Sources {
  readonly flags: Flags;
  readonly file?: JobFile | null;
  readonly env: NodeJS.ProcessEnv;
  /** Absolute folder that paths in flags are relative to. */
  readonly cwd: string;
}

/** A user's value for a setting. */
interface Given {
  readonly texts: Texts;
  /** Absolute folder that paths in it are relative to. */
  readonly folder: string;
}

/** Settings by the names that a command knows them by. */
export type SettingTable = Readonly<Record<string, Setting>>;

type ValuesOf<Table extends SettingTable> = {
  readonly [Name in keyof Table]: Table[Name] extends Setting<infer T> ? T : never;
};

/**
 * A user's value for a setting: from its flag, else the job file, else the environment, else null. `item` is
 * the index in the list that the setting's key is in, such as `sources[].text`.
 */
export function given(setting: Setting, from: Sources, item = 0): Given | null {
  return inFlags(setting, from) ?? inFile(setting, from, item) ?? inEnvironment(setting, from);
}

function inFlags({ flag }: Setting, { flags, cwd }: Sources): Given | null {
  const value = flag === null ? undefined : flags[flagName(flag)];
  // False: typed for some files only.
  if (value === undefined || value === false) return null;
  // A switch that begins with `--no-` turns its setting off.
  const texts = flag!.startsWith('--no-') ? ['false'] : [value].flat().map(String);
  const [first, ...more] = texts.map((text) => ({ value: text, place: flag! }));
  return first === undefined ? null : { texts: [first, ...more], folder: cwd };
}

/** The name under which a flag is given: `--max-wait` as `maxWait`; a flag behind `--for` as it is, for it names a glob. */
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

/** A user's parsed value for a setting, or null. Failure('usage') names the place of a mistake in it. */
export async function resolveSetting<T>(setting: Setting<T>, from: Sources, item = 0): Promise<T | null> {
  const found = given(setting, from, item);
  if (found === null) return null;
  return setting.kind.parse(found.texts, { folder: found.folder, cwd: from.cwd, env: from.env });
}

/** The value of a setting: what a user gave, else its default. Failure('usage') for a mistake, or where it must be given. */
export async function valueOf<T>(setting: Setting<T>, from: Sources, item = 0): Promise<T> {
  const value = await resolveSetting(setting, from, item);
  if (value !== null) return value;
  const { absent, kind } = setting;
  const { cwd, env } = from;
  if (absent.is === 'required') throw new Failure('usage', absent.message);
  // The type of a setting that may be unset has null.
  if (absent.is === 'unset') return null as T;
  const text = { value: absent.value, place: `default of ${setting.flag ?? setting.key}` };
  return kind.parse([text], { folder: cwd, cwd, env });
}

/** The values of several settings, parsed in their order. */
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
 * The value or list of values at a path of a job file, as text, each with its place; null where there is none. A mapping is
 * read as a list of `key=value`.
 */
function textsAt({ yaml }: JobFile, path: KeyPath): Texts | null {
  let node: unknown = yaml.data;
  for (const step of path) {
    if (typeof node !== 'object' || node === null) return null;
    node = Reflect.get(node, step) as unknown;
  }
  if (node === undefined) return null;
  // The file has been checked against its schema, in which settings are scalars, lists of them, or mappings to them.
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
