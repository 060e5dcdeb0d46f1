import { realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { ShardResult } from '../../domain/shard.ts';
import { RunReuse } from '../../runs/reuse/run-reuse.ts';
import type { VerdictStore } from '../../store/verdict-store.ts';
import type { FoundRun } from './find-run-directory.ts';
import { isInside } from '../../files/open-inside.ts';
import { openStoreOf, type OpenStoreOptions, storeFolderOf } from '../../runs/reuse/open-store.ts';

/** Adds the verdicts of one run to its store, which is opened for the first of them. */
export class KeptVerdicts {
  readonly #run: FoundRun;
  readonly #open: (run: FoundRun) => Promise<VerdictStore | null>;
  #opened: Promise<{ readonly store: VerdictStore | null; readonly reuse: RunReuse }> | null = null;

  constructor(run: FoundRun, open: (run: FoundRun) => Promise<VerdictStore | null>) {
    this.#run = run;
    this.#open = open;
  }

  /** Adds the verdicts of a committed result. */
  async add(result: ShardResult): Promise<void> {
    this.#opened ??= this.#openStore();
    const { reuse } = await this.#opened;
    await reuse.keep(result);
  }

  async close(): Promise<void> {
    const opened = await this.#opened?.catch(() => null);
    await opened?.store?.close();
  }

  async #openStore(): Promise<{ store: VerdictStore | null; reuse: RunReuse }> {
    const store = await this.#open(this.#run);
    return { store, reuse: new RunReuse(this.#run.record, store) };
  }
}

interface OpenRunStoreOptions extends OpenStoreOptions {
  /** Absolute folders; a store outside them is not touched. */
  readonly roots: readonly string[];
}

/**
 * Opens the store of a run that a sink holds. Returns null for a store outside the sink's folders, and, with a message,
 * if it cannot be used. The caller closes it.
 */
export async function openRunStore(
  run: FoundRun,
  { roots, ...options }: OpenRunStoreOptions,
): Promise<VerdictStore | null> {
  const folder = storeFolderOf(run);
  if (await isBelow(folder, roots)) return openStoreOf(run, options);
  options.say(
    `the verdict store of the run ${run.record.run} is not below a folder of this sink (--root): what it judges is not kept for later runs`,
  );
  return null;
}

/** Whether a folder, which may not exist yet, is below one of the roots, with all links resolved. */
async function isBelow(folder: string, roots: readonly string[]): Promise<boolean> {
  const real = await realPlaceOf(folder);
  for (const root of roots) {
    const realRoot = await realpath(root).catch(() => null);
    if (realRoot !== null && isInside(real, realRoot)) return true;
  }
  return false;
}

/** The path with links resolved, where the last folders may not exist. */
async function realPlaceOf(path: string): Promise<string> {
  const real = await realpath(path).catch(() => null);
  const above = dirname(path);
  if (real !== null || above === path) return real ?? path;
  return join(await realPlaceOf(above), basename(path));
}
