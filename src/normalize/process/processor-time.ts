import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';

/** Of a tick in /proc, which is 10 ms on every architecture that Node runs on. */
const TICK_MS = 10;
/** Behind the name of a program in /proc/…/stat, which may hold anything: where its ticks are. */
const [USER_TICKS, SYSTEM_TICKS] = [11, 12];

/**
 * Processor time that a process has used so far, in milliseconds, with a resolution of 10 ms, or of a second where
 * there is no /proc; null when it is gone or cannot be asked.
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

/** By `ps`, which POSIX has on every other system. */
export function timeByPs(pid: number): Promise<number | null> {
  return new Promise((resolve) => {
    execFile('ps', ['-o', 'time=', '-p', String(pid)], (error, stdout) =>
      resolve(error === null ? parseTime(stdout.trim()) : null),
    );
  });
}

/** Reads days-hours:minutes:seconds, of which days and hours may be missing and seconds have a fraction. */
function parseTime(text: string): number | null {
  const parts = /^(?:(?:(\d+)-)?(\d+):)?(\d+):(\d+(?:\.\d+)?)$/.exec(text);
  if (parts === null) return null;
  const [days, hours, minutes, seconds] = parts.slice(1).map((part) => Number(part ?? 0));
  return (((days! * 24 + hours!) * 60 + minutes!) * 60 + seconds!) * 1000;
}
