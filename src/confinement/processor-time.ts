import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';

/** A clock tick (USER_HZ) is 10 ms on every architecture that Node runs on. */
const TICK_MS = 10;
/** Fields of /proc/pid/stat (proc(5)), counted after the program's name, which may contain spaces. */
const [USER_TICKS, SYSTEM_TICKS] = [11, 12];

/**
 * Returns the processor time used by a process so far, in milliseconds, with a resolution of 10 ms, or 1 s on systems
 * without /proc; null if the process is gone or cannot be queried.
 */
export async function processorTime(pid: number): Promise<number | null> {
  return process.platform === 'linux' ? timeInProc(pid) : timeByPs(pid);
}

async function timeInProc(pid: number): Promise<number | null> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[USER_TICKS]) + Number(fields[SYSTEM_TICKS])) * TICK_MS;
  } catch {
    return null;
  }
}

/** Like `processorTime`, but with `ps`, which is part of POSIX. */
export function timeByPs(pid: number): Promise<number | null> {
  return new Promise((resolve) => {
    execFile('ps', ['-o', 'time=', '-p', String(pid)], (error, stdout) =>
      resolve(error === null ? parseTime(stdout.trim()) : null),
    );
  });
}

/** Parses [[days-]hours:]minutes:seconds, where the seconds may have a fraction. */
function parseTime(text: string): number | null {
  const parts = /^(?:(?:(\d+)-)?(\d+):)?(\d+):(\d+(?:\.\d+)?)$/.exec(text);
  if (parts === null) return null;
  const [days, hours, minutes, seconds] = parts.slice(1).map((part) => Number(part ?? 0));
  return (((days! * 24 + hours!) * 60 + minutes!) * 60 + seconds!) * 1000;
}
