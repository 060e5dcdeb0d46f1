import type { ShardResult } from '../../domain/shard.ts';
import { RunReuse } from '../../runs/reuse/run-reuse.ts';
import type { VerdictStore } from '../../store/verdict-store.ts';
import type { FoundRun } from './find-run-directory.ts';

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
