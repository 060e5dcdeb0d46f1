import { Option } from 'commander';

interface FlagHelp {
  /** Starts with a verb or a noun, ends without a full stop. */
  readonly what: string;
  /** What holds when the flag, the job file and the environment are silent. */
  readonly fallback: string;
  /** A value as it could be typed; none for switches. */
  readonly example?: string;
}

const collect = (value: string, earlier: readonly string[] | undefined): readonly string[] => [
  ...(earlier ?? []),
  value,
];

/**
 * A flag whose help always tells its default and an example. Values stay as typed and absent ones absent: they are
 * checked where they meet the job file and the environment.
 */
export function flag(spec: string, { what, fallback, example }: FlagHelp): Option {
  const shown = example === undefined ? '' : `; example: ${example}`;
  return new Option(spec, `${what} (default: ${fallback}${shown})`);
}

/** A flag that may be given several times; its value is the list. */
export function repeatableFlag(spec: string, help: FlagHelp): Option {
  return flag(spec, { ...help, what: `${help.what}; repeatable` }).argParser(collect);
}

export const jsonFlag = (what: string): Option => flag('--json', { what, fallback: 'text' });

export const quietFlag = (): Option =>
  flag('--quiet', { what: 'show no progress and no notices on stderr', fallback: 'shown' });

export const guardFlag = (): Option =>
  repeatableFlag('--guard <url>', {
    what: 'guard endpoint: grpc://host:8001, grpcs://host:8001 or embedded:',
    fallback: 'GUARD_URL, else embedded:',
    example: 'grpc://gpu-1:8001',
  });

export const outFlag = (): Option =>
  flag('--out <dir>', {
    what: 'folder in which the run directory is made',
    fallback: 'runs',
    example: '/data/runs',
  });
