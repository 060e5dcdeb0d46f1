import { firstThatWorks, NO_CAPABILITIES, REUID, SHELL } from './wrappers.ts';

/**
 * Goes on as what it is given, but only while the process that asked for it is its parent: that may have died before
 * the tether was tied, and then nobody is told of its death any more. Memory is bounded as the kernel counts it: pages
 * that only this process can write to. No core file is written, which would hold what was decoded.
 */
const WITHIN_LIMITS =
  '[ "$PPID" = "$1" ] || kill -KILL $$; ulimit -c 0 2>/dev/null; ulimit -d "$2" 2>/dev/null; shift 2; exec "$@"';

/** A program and its arguments. */
export interface CommandLine {
  readonly command: string;
  readonly args: readonly string[];
}

export interface Confinement {
  /** Bytes of memory that it may allocate, virtual ones; allocations beyond it fail. */
  readonly memoryBytes: number;
  /**
   * The files that it has to read, by their absolute paths, so that it can run as a user who owns nothing; null for one
   * that opens files which perhaps only we may read.
   */
  readonly reads: readonly string[] | null;
  /** Whose process has to be its parent, by its id: this one unless given. */
  readonly parent?: number;
}

/**
 * A command line that runs a program which parses strangers' files, as confined as this system allows:
 *
 * - Its memory is bounded (Linux).
 * - The system ends it by SIGKILL as soon as its parent is dead, whatever that died of and whatever the program does:
 *   it may hang or be stopped. This takes Linux and the `setpriv` of util-linux (2.33 or newer). Elsewhere it has to
 *   notice that nobody reads what it writes.
 * - It can neither read the environment and the memory of other processes nor reach the network: it is in namespaces of
 *   its own (Linux, where users may make them). Started by root, it is another user, or root without capabilities.
 *
 * The process id stays that of the program; one that is not there ends with status 127.
 */
export function confined(
  program: string,
  args: readonly string[],
  { memoryBytes, reads, parent = process.pid }: Confinement,
): CommandLine {
  if (process.platform !== 'linux') return { command: program, args };
  const wrapper = firstThatWorks(reads);
  if (wrapper === null) return { command: program, args };
  const [command, ...before] = [...wrapper, SHELL];
  const kibibytes = String(Math.floor(memoryBytes / 1024));
  return {
    command,
    args: [...before, '-c', WITHIN_LIMITS, 'sh', String(parent), kibibytes, program, ...args],
  };
}

/** What is in force for a program, of what a system may be able to confine. */
export interface Bounds {
  readonly memory: boolean;
  /** It cannot read the environment or the memory of this process, or of any other. */
  readonly otherProcesses: boolean;
  readonly network: boolean;
  /** It ends with this process, even while it hangs. */
  readonly life: boolean;
}

/** What `confined` can do on this system, for a program that reads these files; see Confinement. */
export function boundsHere(reads: readonly string[] | null): Bounds {
  const wrapper = process.platform === 'linux' ? firstThatWorks(reads) : null;
  const does = (...parts: readonly string[]): boolean => parts.some((part) => wrapper?.includes(part));
  return {
    memory: wrapper !== null,
    otherProcesses: does('--user', REUID, NO_CAPABILITIES),
    network: does('--net'),
    life: does('--pdeathsig'),
  };
}
