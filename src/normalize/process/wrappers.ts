import { spawnSync } from 'node:child_process';
import { accessSync, constants, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** What every wrapper runs, to set the limits. */
export const SHELL = '/bin/sh';

/** Programs with their arguments that run what follows them, one after the other, in the same process. */
export type Wrapper = readonly string[];

/** The user and the group who own nothing, by their number on every common system. */
const NOBODY = '65534';

/** Arguments by which a wrapper can be told. */
export const REUID = `--reuid=${NOBODY}`;
export const NO_CAPABILITIES = '--inh-caps=-all';

const AS_NOBODY = ['setpriv', REUID, `--regid=${NOBODY}`, '--clear-groups', '--'];
/** Still root, who opens any file, but may not look into processes that have more capabilities. */
const WITHOUT_CAPABILITIES = [
  'setpriv',
  NO_CAPABILITIES,
  '--bounding-set=-all,+dac_override,+dac_read_search',
  '--',
];
/**
 * In a user namespace a process has no power over any outside of it, even of the same user. Making a network namespace
 * as well is forbidden on systems where that of users is the only one that everybody may make.
 */
const NAMESPACES = [['unshare', '--user', '--net', '--'], ['unshare', '--user', '--'], []];
const ROOT_WHO_OPENS_FILES = [['unshare', '--net', '--', ...WITHOUT_CAPABILITIES], WITHOUT_CAPABILITIES, []];
/** Last, because the system forgets the signal where the user or the capabilities change. */
const TIE = ['setpriv', '--pdeathsig', 'KILL', '--no-new-privs', '--'];

/** The programs above, both of util-linux. */
const PROGRAMS: ReadonlySet<string> = new Set(['setpriv', 'unshare']);

/** Bit of the capability to end another user's processes (capabilities(7)). */
const CAP_KILL = 5n;

/** A program may be one that can only be run. */
const READS_ALL = 'for file; do [ -r "$file" ] || [ -x "$file" ] || exit 1; done';

/** What was found, by the files that have to be read. */
const found = new Map<string, Wrapper | null>();

/** The system has no room for a process at the moment, which says nothing of a wrapper. */
const NO_ROOM: ReadonlySet<string | undefined> = new Set(['EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM']);

/**
 * The strictest wrapper that works on this system, under which `reads` can be read; null in its place: under which every
 * file can that we can read. Tries them once a process, which takes some milliseconds. Empty where only the shell works
 * that they all run; null where that does not.
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
  // in a user namespace root may no longer open every file
  const isolated = isRoot && reads === null ? ROOT_WHO_OPENS_FILES : NAMESPACES;
  const asNobody =
    isRoot && reads !== null && mayEndOthers()
      ? NAMESPACES.map((namespaces) => [...AS_NOBODY, ...namespaces])
      : [];
  return [TIE, []].flatMap((tie) => [...asNobody, ...isolated].map((before) => [...before, ...tie]));
}

/** A process that becomes another user's has to be one that we can still end. */
function mayEndOthers(): boolean {
  const status = readFileSync('/proc/self/status', 'latin1');
  const effective = BigInt(`0x${/^CapEff:\s+([0-9a-f]+)$/m.exec(status)?.[1] ?? '0'}`);
  return (effective >> CAP_KILL) % 2n === 1n;
}

/** With the paths of its programs; null where one is missing. */
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

/** Where a system call is forbidden, the system may refuse it or end the program that makes it. */
function tryOut(wrapper: Wrapper, reads: readonly string[]): 'works' | 'fails' | 'no room' {
  const [command, ...args] = [...wrapper, SHELL, '-c', READS_ALL, 'sh', ...reads];
  const { status, error } = spawnSync(command!, args, { stdio: 'ignore', cwd: '/', env: {} });
  if (error !== undefined && NO_ROOM.has((error as NodeJS.ErrnoException).code)) return 'no room';
  return status === 0 ? 'works' : 'fails';
}
