import { writeFileSync } from 'node:fs';

/**
 * On Linux, keeps the memory of this process, and of those that it starts, out of core dumps: it holds content and tokens,
 * and a library written in C++ may crash. Node cannot set RLIMIT_CORE; the kernel lets a process say which of its memory a
 * dump holds (core(5)): none. Elsewhere, and where /proc is not mounted, the limit of the shell holds.
 */
export function keepMemoryOutOfCoreDumps(): void {
  try {
    writeFileSync('/proc/self/coredump_filter', '0');
  } catch {
    // Not Linux, or no /proc.
  }
}
