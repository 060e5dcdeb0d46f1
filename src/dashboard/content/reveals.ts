import { Failure } from '../../domain/failure.ts';
import type { ChainedFile } from '../../files/chained-file.ts';
import { openReveals } from '../../record/reviews/reveals-file.ts';
import type { Run } from '../../runs/create-run.ts';
import { appendEntry } from '../../runs/trust/append-entry.ts';

/** Maximum runs whose file is kept open for appending. */
const MAX_FILES = 16;

/**
 * Logs the content that people are shown, by item, in `review/reveals.jsonl` in the run directory. The log contains no
 * content.
 */
export class Reveals {
  /** Files by run directory, the least recently used first. */
  readonly #files = new Map<string, Promise<ChainedFile>>();

  /**
   * Logs a reveal by `reviewer`, the name they gave, or null if none. It is on disk when this resolves.
   * Failure('service') if it cannot be logged; then nothing may be shown.
   */
  add(run: Run, seq: number, kind: 'content' | 'media', reviewer: string | null): Promise<void> {
    return this.#append(run, { reviewer, seq, kind });
  }

  /**
   * Logs a search: how many texts were searched, and in which of them something was found. Omits the search string,
   * which is content.
   */
  addSearch(run: Run, searched: number, found: readonly number[], reviewer: string | null): Promise<void> {
    return this.#append(run, { reviewer, kind: 'search', searched, found });
  }

  async #append(run: Run, entry: Readonly<Record<string, unknown>>): Promise<void> {
    const { dir, record } = run;
    try {
      const file = await this.#fileOf(dir);
      // A truncated file stays rejected while this process lives, so it is kept in the map.
      await appendEntry(file, { dir, run: record.run }, entry);
    } catch (cause) {
      const code = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : '';
      const why = cause instanceof Failure ? `: ${cause.message}` : code;
      throw new Failure('service', `nothing is shown, because viewing cannot be logged${why}`, { cause });
    }
  }

  #fileOf(dir: string): Promise<ChainedFile> {
    const file = this.#files.get(dir) ?? this.#opened(dir);
    this.#files.delete(dir);
    this.#files.set(dir, file);
    for (const oldest of this.#files.keys()) {
      if (this.#files.size <= MAX_FILES) break;
      this.#files.delete(oldest);
    }
    return file;
  }

  #opened(dir: string): Promise<ChainedFile> {
    const file = openReveals(dir);
    file.catch(() => this.#files.delete(dir));
    return file;
  }
}
