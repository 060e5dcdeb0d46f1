const NO_ROOM: ReadonlySet<string | undefined> = new Set(['EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM']);

/** Whether an error of `spawn` means that the system can start no process at the moment: it lacks memory or descriptors. */
export function isNoRoom(error: unknown): boolean {
  return NO_ROOM.has((error as NodeJS.ErrnoException).code);
}
