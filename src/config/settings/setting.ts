import type { z } from 'zod';
import type { WithOrigin } from '../usage-error.ts';

/** A value as text, with its origin. Values of job files are also read as text: `8`, `true`, `30s`. */
export type Text = WithOrigin<string>;

export type Texts = readonly [Text, ...Text[]];

/** Context for parsing a value. */
export interface Where {
  /** Absolute folder to which paths in the value are relative: the job file's, or `cwd`. */
  readonly folder: string;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/** The type of a setting's values: how they are written and parsed. */
export interface Kind<T> {
  /** Placeholder for the value in the syntax of a flag (`duration`); null if the flag is a switch. */
  readonly unit: string | null;
  /** Whether the flag may be given several times, and the environment variable may contain several values. */
  readonly isList: boolean;
  /** The type of a value in job files. */
  readonly shape: z.ZodType;
  /** Failure('usage') names the origin of the first mistake. */
  parse(texts: Texts, where: Where): T | Promise<T>;
}

/** An environment variable. */
export interface Variable {
  readonly name: string;
  /** Starts with a noun, ends without a full stop. */
  readonly help: string;
  /** Whether it holds a secret, in which case `NAME_FILE` may name a file that contains it. Default: false. */
  readonly secret?: boolean;
}

/** The value of a setting that is not given. */
type Absent =
  /** `value` is parsed as if it were given; `shown` describes it where the value alone is unclear. */
  | { readonly is: 'default'; readonly value: string; readonly shown?: string | undefined }
  /** The setting is null; `shown` describes what that means. */
  | { readonly is: 'unset'; readonly shown: string }
  /** Failure('usage') with this message. */
  | { readonly is: 'required'; readonly message: string };

/** The single definition of a setting. Flags, job files, their schemas and the documentation derive from it. */
export interface Setting<T = unknown> {
  /** For example `--max-wait`; null if there is no flag. */
  readonly flag: `--${string}` | null;
  /** Path in a job file, with lists as `[]`: `output.dir`, `sources[].text`; null if there is no key. */
  readonly key: string | null;
  /** Environment variable, read if neither a flag nor the job file gives a value. */
  readonly variable: Variable | null;
  /** One line that starts with a verb or noun and ends without a full stop; literal words in backticks. */
  readonly help: string;
  /** Help of a flag that turns the setting off (`--no-reuse`); null to use `help`. */
  readonly flagHelp: string | null;
  /** Text appended to the help of the flag. */
  readonly flagNote: string | null;
  /** Text appended to the help of the key in job files. */
  readonly keyNote: string | null;
  /** Example value as typed; null for switches. */
  readonly example: string | null;
  readonly kind: Kind<T>;
  readonly absent: Absent;
}

interface Entry<T> {
  readonly flag?: `--${string}`;
  readonly key?: string;
  readonly variable?: Variable;
  readonly help: string;
  readonly flagHelp?: string;
  readonly flagNote?: string;
  readonly keyNote?: string;
  readonly example?: string;
  readonly kind: Kind<T>;
}

interface WithDefault {
  readonly default: string;
  readonly shown?: string;
}

interface WithoutDefault {
  readonly unset: string;
}

interface Required {
  readonly required: string;
}

/** Defines a setting with a default, an optional one, which is null if not given (`unset`), or a required one. */
export function setting<T>(entry: Entry<T> & (WithDefault | Required)): Setting<T>;
export function setting<T>(entry: Entry<T> & WithoutDefault): Setting<T | null>;
export function setting<T>(entry: Entry<T> & (WithDefault | WithoutDefault | Required)): Setting<T | null> {
  const { flag = null, key = null, variable = null, help, kind, example = null } = entry;
  const { flagHelp = null, flagNote = null, keyNote = null } = entry;
  return { flag, key, variable, help, flagHelp, flagNote, keyNote, example, kind, absent: absentOf(entry) };
}

function absentOf(entry: WithDefault | WithoutDefault | Required): Absent {
  if ('required' in entry) return { is: 'required', message: entry.required };
  if ('unset' in entry) return { is: 'unset', shown: entry.unset };
  return { is: 'default', value: entry.default, shown: entry.shown };
}
