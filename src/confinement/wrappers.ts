import { spawnSync } from 'node:child_process';
import { accessSync, constants, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const NO_ROOM: ReadonlySet<string | undefined> = new Set(['EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM']);

/**
 * Whether an error of `spawn` means that the system cannot start a process at the moment because it lacks memory or
 * descriptors.
 */
export function isNoRoom(error: unknown): boolean {
  return NO_ROOM.has((error as NodeJS.ErrnoException).code);
}

/** Shell that every wrapper runs to set the limits. */
export const SHELL = '/bin/sh';

/** Programs with arguments, each of which executes what follows it in the same process. */
type Wrapper = readonly string[];

/** Id of the user `nobody` and its group on every common system. */
const NOBODY = '65534';

/** Arguments that identify a wrapper. */
const REUID = `--reuid=${NOBODY}`;
const NO_CAPABILITIES = '--inh-caps=-all';

const AS_NOBODY = ['setpriv', REUID, `--regid=${NOBODY}`, '--clear-groups', '--'];
/** Still root, which can open any file, but without access to processes that have more capabilities (ptrace(2)). */
const WITHOUT_CAPABILITIES = [
  'setpriv',
  NO_CAPABILITIES,
  '--bounding-set=-all,+dac_override,+dac_read_search',
  '--',
];
/**
 * In a user namespace a process has no access to processes outside it, even of the same user. Some systems let
 * unprivileged users create a user namespace but not a network namespace.
 */
const NAMESPACES = [['unshare', '--user', '--net', '--'], ['unshare', '--user', '--'], []];
const ROOT_WHO_OPENS_FILES = [['unshare', '--net', '--', ...WITHOUT_CAPABILITIES], WITHOUT_CAPABILITIES, []];
/** Comes last: the kernel clears the signal when the user or the capabilities change (prctl(2)). */
const TIE = ['setpriv', '--pdeathsig', 'KILL', '--no-new-privs', '--'];

/** Programs used by the wrappers, both from util-linux. */
const PROGRAMS: ReadonlySet<string> = new Set(['setpriv', 'unshare']);

/** Bit of the capability to kill another user's processes (capabilities(7)). */
const CAP_KILL = 5n;

/** A program may be executable but not readable. */
const READS_ALL = 'for file; do [ -r "$file" ] || [ -x "$file" ] || exit 1; done';

/** Results by the files that must be readable. */
const found = new Map<string, Wrapper | null>();

/**
 * Returns the strictest wrapper that works on this system and can read `reads`, or every file that the current user can
 * read if `reads` is null. Tries the wrappers once per process, which takes a few milliseconds. Returns an empty
 * wrapper if only the shell works, and null if not even that does.
 */
export function firstThatWorks(reads: readonly string[] | null): Wrapper | null {
  const key = JSON.stringify(reads);
  const known = found.get(key);
  if (known !== undefined) return known;
  for (const candidate of candidates(reads)) {
    const wrapper = withPaths(candidate);
    if (wrapper === null) continue;
    const result = tryOut(wrapper, reads ?? []);
    if (result === 'no room') return [];
    if (result === 'works') {
      found.set(key, wrapper);
      return wrapper;
    }
  }
  found.set(key, null);
  return null;
}

function candidates(reads: readonly string[] | null): Wrapper[] {
  const isRoot = process.geteuid?.() === 0;
  // In a user namespace root may no longer be able to open every file.
  const isolated = isRoot && reads === null ? ROOT_WHO_OPENS_FILES : NAMESPACES;
  const asNobody =
    isRoot && reads !== null && mayEndOthers()
      ? NAMESPACES.map((namespaces) => [...AS_NOBODY, ...namespaces])
      : [];
  return [TIE, []].flatMap((tie) => [...asNobody, ...isolated].map((before) => [...before, ...tie]));
}

/** Whether this process may kill a process of another user, such as a program run as nobody. */
function mayEndOthers(): boolean {
  const status = readFileSync('/proc/self/status', 'latin1');
  const effective = BigInt(`0x${/^CapEff:\s+([0-9a-f]+)$/m.exec(status)?.[1] ?? '0'}`);
  return (effective >> CAP_KILL) % 2n === 1n;
}

/** Resolves the paths of a wrapper's programs; null if one is missing. */
function withPaths(wrapper: Wrapper): Wrapper | null {
  const resolved: string[] = [];
  for (const part of wrapper) {
    const path = PROGRAMS.has(part) ? pathOf(part) : part;
    if (path === null) return null;
    resolved.push(path);
  }
  return resolved;
}

function pathOf(program: string): string | null {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder.startsWith('/'));
  const paths = [...folders, '/usr/bin', '/bin'].map((folder) => join(folder, program));
  return paths.find(isExecutable) ?? null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The system may refuse a forbidden system call, or kill the program that makes it. */
function tryOut(wrapper: Wrapper, reads: readonly string[]): 'works' | 'fails' | 'no room' {
  const [command, ...args] = [...wrapper, SHELL, '-c', READS_ALL, 'sh', ...reads];
  const { status, error } = spawnSync(command!, args, { stdio: 'ignore', cwd: '/', env: {} });
  // This says nothing about the wrapper.
  if (error !== undefined && isNoRoom(error)) return 'no room';
  return status === 0 ? 'works' : 'fails';
}
