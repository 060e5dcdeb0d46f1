import { access } from 'node:fs/promises';

/** Whether a path leads to something that this process can see. */
export function isThere(path: string | Buffer): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
