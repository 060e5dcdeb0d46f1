import { userInfo } from 'node:os';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ChainedFile } from '../../files/chained-file.ts';
import { DIRECTORY_MODE } from '../../files/create-file.ts';
import { type REVIEW_FILES, RUN_FILES } from '../../files/run-files.ts';
import { hasReviews, openReviewChain } from '../../record/reviews/review-history.ts';
import { assertOwnRun } from '../../runs/trust/own-run.ts';

/** Keys of every line of a file in `review`. */
export interface ReviewFileEntry extends Readonly<Record<string, unknown>> {
  readonly schema: 1;
  readonly run: string;
  /** ISO 8601, UTC. */
  readonly at: string;
  /** The user of the process that appended the line. */
  readonly by: string;
}

/**
 * A file in the folder `review` of a run directory, to which the dashboard only appends: a chain that begins with the hash
 * of run.json. Several processes may append. Made with the first entry: folder 0700, file 0600.
 */
export class ReviewFile {
  readonly #runDir: string;
  readonly #run: string;
  readonly #file: ChainedFile;

  private constructor(runDir: string, run: string, file: ChainedFile) {
    this.#runDir = runDir;
    this.#run = run;
    this.#file = file;
  }

  /**
   * `run` is the name in run.json. `take` takes every entry once, in order: those found by `read`, and those appended. Its
   * keys are not validated.
   */
  static async open(
    { dir, run }: { readonly dir: string; readonly run: string },
    name: keyof typeof REVIEW_FILES,
    take: (entry: Readonly<Record<string, unknown>>) => void,
  ): Promise<ReviewFile> {
    return new ReviewFile(dir, run, await openReviewChain(dir, name, take));
  }

  /** Takes what was appended since the last call. Failure('internal') when a line was changed, removed or moved. */
  async read(signal: AbortSignal): Promise<void> {
    await hasReviews(this.#runDir);
    await this.#file.read(signal);
  }

  /**
   * Appends what a person did now; it is on disk when this resolves. Failure('usage') for a run directory in which others can
   * write, Failure('service') when the disk is full, Failure('internal') as `read`. `admit`: as `ChainedFile.append` has it.
   */
  async append(what: Readonly<Record<string, unknown>>, admit?: () => void): Promise<void> {
    await assertOwnRun(this.#runDir);
    await makeFolder(join(this.#runDir, RUN_FILES.review));
    const entry: ReviewFileEntry = {
      schema: 1,
      run: this.#run,
      at: new Date().toISOString(),
      by: userOfProcess(),
      ...what,
    };
    await this.#file.append(entry, admit);
  }
}

async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, DIRECTORY_MODE);
  } catch (error) {
    // `assertOwnRun` refuses anything but a folder in its place.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** Name of the user; the number of one without a name. */
export function userOfProcess(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}
