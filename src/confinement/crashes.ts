/**
 * Signals that end a program because of what its own code did, here triggered by the file it decodes. A library whose
 * allocation fails aborts or traps.
 */
export const CRASHES: ReadonlySet<NodeJS.Signals> = new Set([
  'SIGSEGV',
  'SIGABRT',
  'SIGBUS',
  'SIGFPE',
  'SIGILL',
  'SIGTRAP',
]);
