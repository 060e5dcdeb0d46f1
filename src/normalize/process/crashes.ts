/**
 * Signals by which the system ends a program for what its own code did: here, for what a file made it do. A library
 * that is refused memory aborts or traps.
 */
export const CRASHES: ReadonlySet<NodeJS.Signals> = new Set([
  'SIGSEGV',
  'SIGABRT',
  'SIGBUS',
  'SIGFPE',
  'SIGILL',
  'SIGTRAP',
]);
