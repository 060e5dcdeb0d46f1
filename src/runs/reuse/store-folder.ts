import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import type { Run } from '../create-run.ts';

/**
 * Absolute path of the store of a run. A store in the output folder is found beside the run directory, where this machine sees it and where it may have been moved.
 */
export function storeFolderOf({ dir, record }: Pick<Run, 'dir' | 'record'>): string {
  const { store, output } = record.config;
  const within = relative(output.dir, store);
  const isOutside = within === '..' || within.startsWith(`..${sep}`) || isAbsolute(within);
  return isOutside ? store : join(dirname(dir), within);
}
