import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/**
 * Goes on as what it is given, but only while the process that asked for it is its parent: that may have died before
 * the tether was tied, and then nobody is told of its death any more.
 */
const ONLY_WITH_PARENT = '[ "$PPID" = "$1" ] || kill -KILL $$; shift; exec "$@"';
const SHELL = '/bin/sh';

/** A program and its arguments. */
export interface CommandLine {
  readonly command: string;
  readonly args: readonly string[];
}

/**
 * A command line that runs a program as one that the system ends by SIGKILL as soon as its parent, `parent` by its id,
 * is dead, whatever that died of and whatever the program does: it may hang or be stopped. The process id stays that
 * of the program; one that is not there ends with status 127.
 *
 * This takes Linux and the `setpriv` of util-linux (2.33 or newer). Elsewhere it is the program as it is, which has to
 * notice that nobody reads what it writes.
 */
export function tethered(program: string, args: readonly string[], parent = process.pid): CommandLine {
  const setpriv = findSetpriv();
  if (setpriv === null) return { command: program, args };
  return {
    command: setpriv,
    args: [...tie(), '-c', ONLY_WITH_PARENT, 'sh', String(parent), program, ...args],
  };
}

function tie(): readonly string[] {
  return ['--pdeathsig', 'KILL', '--', SHELL];
}

/** What was found; undefined before anybody asked. */
let found: string | null | undefined;

/** Where a `setpriv` is that can do it: that of BusyBox cannot. Asks once a process, which takes some milliseconds. */
function findSetpriv(): string | null {
  if (process.platform !== 'linux') return null;
  if (found !== undefined) return found;
  const path = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder.startsWith('/'));
  const there = [...path, '/usr/bin', '/bin'].map((folder) => join(folder, 'setpriv')).find(isExecutable);
  if (there === undefined) return (found = null);
  const { status } = spawnSync(there, [...tie(), '-c', ':'], { stdio: 'ignore' });
  if (status === null) return null; // there was no room for a process: that says nothing of it
  return (found = status === 0 ? there : null);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
