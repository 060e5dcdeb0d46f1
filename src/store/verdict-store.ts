import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../domain/failure.ts';
import { STORE_FILES } from '../files/store-files.ts';
import { causeOf, Environment } from './environment.ts';
import { FileHashes } from './file-hashes.ts';
import { lookAtFolder, makeDataFolder, removeData, useData } from './store-folder.ts';
import { mayOpen, StoreUser } from './store-users.ts';
import { Verdicts, type JudgedBy, type JudgedVerdicts, type StoredVerdict } from './verdicts.ts';

export interface StoreOptions {
  /** This user's run key, which seals the store; null for a user without one. */
  readonly key: Buffer | null;
  /** Source of verdicts to refill a damaged store. */
  readonly recorded: (signal: AbortSignal) => AsyncIterable<JudgedVerdicts>;
  /** Takes one line of text. */
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}

export interface GarbageOptions extends StoreOptions {
  /** Whether a run without a finished record still counts: its verdicts are copied from the store. */
  readonly isUnfinished: (run: string) => boolean;
}

/** How large a store is. */
export interface StoreSize {
  readonly verdicts: number;
  /** Size of its data on disk. */
  readonly bytes: number;
}

/**
 * Verdicts by content and `JudgedBy`, in a folder, so content that was judged once need not be judged again. It is only
 * a cache. Any error is a miss, and is reported once; but damage to its file while it is open can crash the process.
 * All processes of a user on one host may share it.
 */
export class VerdictStore {
  readonly #folder: string;
  /** Signals to other processes that this one uses the data. */
  readonly #user: StoreUser;
  readonly #environment: Environment;
  readonly #verdicts: Verdicts;
  /** Media files that have not changed since they were read. */
  readonly files: FileHashes;

  private constructor(folder: string, user: StoreUser, { key, say }: StoreOptions) {
    this.#folder = folder;
    this.#user = user;
    this.#environment = new Environment(folder, (what, error) =>
      say(
        what === 'read'
          ? `the verdict store cannot be read (${causeOf(error)}): nothing more is reused in this run`
          : `the verdict store cannot be written (${causeOf(error)}): what is judged from now on is not stored`,
      ),
    );
    this.#verdicts = new Verdicts(this.#environment, key);
    this.files = new FileHashes(this.#environment, key);
  }

  /**
   * Opens the store in a folder, or creates one there. A store that is damaged, or was not closed properly, is replaced
   * by one that is filled from records. Null, with a message, when there can be no store: another host uses it, or the
   * disk is full. Failure('usage') for a folder that is something else, or that others can write in. Rejects with the
   * signal's reason when aborted.
   */
  static async open(dir: string, options: StoreOptions): Promise<VerdictStore | null> {
    const { key, say, signal } = options;
    try {
      for (;;) {
        const found = await lookAtFolder(dir, key);
        if (found.holds === 'another host') {
          say(
            `the verdict store ${dir} belongs to another host: nothing is reused; name another one with --store`,
          );
          return null;
        }
        const folder = found.holds === 'data' ? join(dir, found.data) : null;
        if (folder !== null && (await mayOpen(folder, signal))) {
          const store = await VerdictStore.#use(folder, options);
          if (store !== null) return store;
          say(
            `another container uses the verdict store ${dir}: nothing is reused; give each its own with --store`,
          );
          return null;
        }
        const isFirst = found.holds === 'nothing';
        if (!isFirst) {
          const why =
            folder === null
              ? 'is damaged, or a copy of one made elsewhere, whose verdicts are not trusted'
              : 'was not closed properly (a run was killed or stopped, or the machine crashed), or was copied or damaged';
          say(
            `the verdict store ${dir} ${why}: it is built again from the finished runs here; nothing to do`,
          );
        }
        const fill = async (fresh: VerdictStore): Promise<void> => {
          for await (const judged of options.recorded(signal)) await fresh.add(judged);
        };
        const made = await VerdictStore.#make(dir, options, { isFirst, fill });
        // Null means that another process made one at the same time.
        if (made !== null) return made;
      }
    } catch (error) {
      if (signal.aborted || error instanceof Failure) throw error;
      say(`the verdict store ${dir} cannot be used (${causeOf(error)}): nothing is reused in this run`);
      return null;
    }
  }

  /** The verdict on a piece of content, by the first of these that judged it; null if there is none. */
  find(contentSha256: string, judgedBy: readonly JudgedBy[]): StoredVerdict | null {
    for (const by of judgedBy) {
      const found = this.#verdicts.find(contentSha256, by);
      if (found !== null) return found;
    }
    return null;
  }

  /**
   * Adds verdicts that are committed to a verdict log. Verdicts of unknown models and of generations are skipped. Added
   * verdicts can be found at once, and are written together with those of other calls. Resolves when there is room for
   * more.
   */
  add(judged: JudgedVerdicts): Promise<void> {
    return this.#verdicts.add(judged);
  }

  /** Writes the waiting verdicts, and closes the file. No method may be called afterwards. */
  async close(): Promise<void> {
    if (await this.#environment.close()) await this.#user.noteClosed().catch(() => undefined);
    await this.#user.end();
  }

  /**
   * Replaces the store in a folder, in one step, by one with only the verdicts of records and unfinished runs. A
   * process that has the store open continues with the old one. Null and failures as for `open`.
   */
  static async collectGarbage(
    dir: string,
    options: GarbageOptions,
  ): Promise<{ readonly before: StoreSize; readonly after: StoreSize } | null> {
    const old = await VerdictStore.open(dir, options);
    if (old === null) return null;
    const { signal, isUnfinished } = options;
    const fill = async (fresh: VerdictStore): Promise<void> => {
      for await (const judged of options.recorded(signal)) await fresh.add(judged);
      await old.#verdicts.copyTo(fresh.#verdicts, isUnfinished, signal);
      await old.files.copyTo(fresh.files, signal);
    };
    try {
      const before = await old.#size();
      const kept = await VerdictStore.#make(dir, options, { isFirst: false, fill });
      if (kept === null) return null;
      const after = await kept.#size();
      await kept.close();
      return { before, after };
    } finally {
      await old.close();
    }
  }

  async #size(): Promise<StoreSize> {
    const { size } = await stat(join(this.#folder, STORE_FILES.data));
    return { verdicts: this.#verdicts.count, bytes: size };
  }

  /** Null when a process of another container uses the data. */
  static async #use(folder: string, options: StoreOptions): Promise<VerdictStore | null> {
    const user = await StoreUser.begin(folder);
    if (user === null) return null;
    try {
      return new VerdictStore(folder, user, options);
    } catch (error) {
      await user.end();
      throw error;
    }
  }

  /**
   * Builds a store, fills it, and replaces the present one with it. With `isFirst`, there must be no store yet, and the
   * new one stays empty; null when another process has made one in the meantime.
   */
  static async #make(
    dir: string,
    options: StoreOptions,
    { isFirst, fill }: { readonly isFirst: boolean; readonly fill: (fresh: VerdictStore) => Promise<void> },
  ): Promise<VerdictStore | null> {
    const data = await makeDataFolder(dir);
    let store: VerdictStore | null = null;
    let isUsed = false;
    try {
      store = await VerdictStore.#use(join(dir, data), options);
      if (store === null) throw new Error('new data that another process uses');
      if (!isFirst) await fill(store);
      await store.#environment.flush();
      if (!store.#environment.isWhole) throw new Error('the store could not be filled');
      isUsed = await useData(dir, data, { key: options.key, isFirst });
      return isUsed ? store : null;
    } finally {
      if (!isUsed) {
        await store?.close();
        await removeData(dir, data);
      }
    }
  }
}
