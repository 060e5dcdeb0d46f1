import { readdirSync, readFileSync } from 'node:fs';

/** Processes that this one started, directly or not, and that are still there, by name. */
export function childrenNamed(name: string, parent = process.pid): number[] {
  const parents = new Map<number, { readonly parent: number; readonly name: string }>();
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, 'latin1');
      const behind = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (behind[0] === 'Z') continue;
      const name = stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'));
      parents.set(Number(entry), { name, parent: Number(behind[1]) });
    } catch {
      // gone while we looked
    }
  }
  const isOurs = (pid: number): boolean => {
    const above = parents.get(pid)?.parent;
    return above !== undefined && (above === parent || isOurs(above));
  };
  return [...parents.keys()].filter((pid) => parents.get(pid)!.name === name && isOurs(pid));
}

/** How many bytes a process has written so far, to whatever. */
export function writtenBytes(pid: number): number {
  return Number(/^wchar: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'latin1'))![1]);
}

/** Whether a process is there. */
export function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'latin1'));
  } catch {
    return false;
  }
}
