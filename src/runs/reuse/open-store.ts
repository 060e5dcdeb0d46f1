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
 * Failure('usage') for a folder that is something else, or that others can write in. The caller closes it.
 */
export function openStoreFor(
  { store, output }: RunConfig,
  options: OpenStoreOptions,
): Promise<VerdictStore | null> {
  return openIn(store, output.dir, options);
}

/**
 * Opens the verdict store of a run that exists; null when it cannot be used for any reason, which is reported. The caller closes it.
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

/** `out`: the folder of the runs that a damaged store is built from again. */
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
 * Absolute path of the store of a run. A store in the output folder is found beside the run directory, where this machine sees it and where it may have been moved.
 */
export function storeFolderOf({ dir, record }: Pick<Run, 'dir' | 'record'>): string {
  const { store, output } = record.config;
  const within = relative(output.dir, store);
  const isOutside = within === '..' || within.startsWith(`..${sep}`) || isAbsolute(within);
  return isOutside ? store : join(dirname(dir), within);
}
