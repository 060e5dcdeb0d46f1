import { firstThatWorks, SHELL } from './wrappers.ts';

/**
 * Shell script that sets limits and then executes the program. It kills itself if its parent is not the process that
 * asked for it: that one may have died before PR_SET_PDEATHSIG was set, and then no signal would come. `ulimit -d`
 * bounds private writable memory. No core file is written, since it would hold decoded content.
 */
const WITHIN_LIMITS =
  '[ "$PPID" = "$1" ] || kill -KILL $$; ulimit -c 0 2>/dev/null; ulimit -d "$2" 2>/dev/null; shift 2; exec "$@"';

/** A program and its arguments. */
interface CommandLine {
  readonly command: string;
  readonly args: readonly string[];
}

export interface Confinement {
  /** Maximum virtual memory it may allocate, in bytes; allocations beyond it fail. */
  readonly memoryBytes: number;
  /**
   * Absolute paths of all files it reads, which allows it to run as a user without permissions (nobody). Null if it
   * also opens files that only the current user may be able to read.
   */
  readonly reads: readonly string[] | null;
  /** Process id of its parent; default: this process. */
  readonly parent?: number;
}

/**
 * Returns a command line that sandboxes a program that parses untrusted files, as strictly as this system allows:
 *
 * - Its memory is bounded (Linux).
 * - The kernel sends it SIGKILL when its parent dies, even if the program hangs or is stopped. This takes Linux
 *   and `setpriv` of util-linux 2.33 or newer. Elsewhere it has to notice that its output is no longer read.
 * - It can neither read the environment and memory of other processes nor reach the network: it runs in its own
 *   namespaces (Linux, where users may create them). Started by root, it runs as nobody, or as root without
 *   capabilities.
 *
 * The process id is that of the program. A program that does not exist ends with status 127.
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

/**
 * Signals that end a program because of its own code, here triggered by the file it decodes. A library whose allocation
 * fails aborts or traps.
 */
export const CRASHES: ReadonlySet<NodeJS.Signals> = new Set([
  'SIGSEGV',
  'SIGABRT',
  'SIGBUS',
  'SIGFPE',
  'SIGILL',
  'SIGTRAP',
]);
