import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import type { RunConfig } from '../../config/run-config.ts';
import { Failure } from '../../domain/failure.ts';
import { VerdictStore, type StoreOptions } from '../../store/verdict-store.ts';
import type { Run } from '../create-run.ts';
import { runKey } from '../trust/run-key.ts';
import { RecordedRuns } from './recorded-verdicts.ts';

export interface OpenStoreOptions extends Pick<StoreOptions, 'say' | 'signal'> {
  /** Path of this user's key file, see runKeyFile. */
  readonly keyFile: string | null;
}

/**
 * Opens the verdict store for a run that is about to be created; null when it cannot be used now, which is reported.
 * Failure('usage') for a folder that is something else, or that others can write in. The caller closes the store.
 */
export function openStoreFor(
  { store, output }: RunConfig,
  options: OpenStoreOptions,
): Promise<VerdictStore | null> {
  return openIn(store, output.dir, options);
}

/**
 * Opens the verdict store of an existing run; null when it cannot be used for any reason, which is reported. The caller
 * closes the store.
 */
export async function openStoreOf(
  run: Pick<Run, 'dir' | 'record'>,
  options: OpenStoreOptions,
): Promise<VerdictStore | null> {
  try {
    return await openIn(storeFolderOf(run), dirname(run.dir), options);
  } catch (error) {
    if (!(error instanceof Failure) || options.signal.aborted) throw error;
    options.say(`${error.message}; the run continues without it`);
    return null;
  }
}

/** `out` is the folder of the runs from which a damaged store is rebuilt. */
async function openIn(
  folder: string,
  out: string,
  { keyFile, say, signal }: OpenStoreOptions,
): Promise<VerdictStore | null> {
  const key = await runKey(keyFile);
  const runs = new RecordedRuns(out, key);
  return VerdictStore.open(folder, { key, recorded: () => runs.verdicts(signal), say, signal });
}

/**
 * Absolute path of the verdict store of a run. A store in the output folder is located relative to the run directory,
 * as this machine sees it and even if it was moved.
 */
export function storeFolderOf({ dir, record }: Pick<Run, 'dir' | 'record'>): string {
  const { store, output } = record.config;
  const within = relative(output.dir, store);
  const isOutside = within === '..' || within.startsWith(`..${sep}`) || isAbsolute(within);
  return isOutside ? store : join(dirname(dir), within);
}
