import { hash } from 'node:crypto';
import { dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import { Failure } from '../../domain/failure.ts';
import type { OutcomeLine } from '../../domain/outcome.ts';
import { CHILDREN } from '../../domain/restriction/restriction.ts';
import { PART_DIGITS } from '../../domain/text/snippet.ts';
import { ChainedFile } from '../../files/chained-file.ts';
import { RESTRICTED_LIST } from '../../files/run-files.ts';

const SHA256 = z.string().regex(/^[0-9a-f]{64}$/);

const ENTRY = z.object({
  restricted_by: z.enum([CHILDREN, 'sexual_content']),
  contents: z.array(SHA256),
  /** The item in which a person found it; without these keys, a guard or a policy found it. */
  run: z.string().optional(),
  seq: z.int().min(0).optional(),
});

type Entry = Omit<z.output<typeof ENTRY>, 'contents'>;

/** The items of a run that people currently find restricted. */
export interface FoundInRun {
  readonly run: string;
  readonly isFound: (seq: number) => boolean;
}

/** The beginning of a hash as a number that represents it exactly. */
export function hashNumber(sha256: string): number {
  return Number.parseInt(sha256.slice(0, PART_DIGITS), 16);
}

/** An item with its hashes. */
export interface HashedItem extends Pick<OutcomeLine, 'content_sha256'> {
  readonly source: Pick<OutcomeLine['source'], 'sha256'>;
}

/** The hashes that identify an item: of its content, and of its file if the item is a whole file. */
export function hashesOf({ content_sha256, source }: HashedItem): string[] {
  return [content_sha256, source.sha256].filter((sha256) => sha256 !== null);
}

/**
 * The hashes of all content that was ever restricted in a folder of runs, in a file next to the runs. Writers of
 * verdicts and of reviews append to it before they write, and nothing is removed. So content that one run restricts
 * stays restricted in every other, even if it ended as an error there or another model allowed it, and after the first
 * run is gone. Needs 40 bytes per piece of content.
 */
export class RestrictedList {
  readonly #file: ChainedFile;
  readonly #judged = new Map<number, Entry['restricted_by']>();
  readonly #found = new Map<number, Entry[]>();

  private constructor(folder: string) {
    const path = join(folder, RESTRICTED_LIST);
    const genesis = hash('sha256', RESTRICTED_LIST);
    this.#file = new ChainedFile({
      path,
      name: RESTRICTED_LIST,
      genesis,
      take: (entry) => this.#take(entry),
    });
  }

  /** The list of the folder that contains a run directory. Reads nothing yet. */
  static beside(runDir: string): RestrictedList {
    return new RestrictedList(dirname(resolve(runDir)));
  }

  get isEmpty(): boolean {
    return this.#judged.size === 0 && this.#found.size === 0;
  }

  /** Reads new entries, including those of other processes. Failure('internal') when the file fails verification. */
  read(signal: AbortSignal): Promise<void> {
    return this.#file.read(signal);
  }

  /**
   * Adds content that a guard or a policy restricts; on disk when this resolves. Failure('service') when the disk is
   * full.
   */
  async addJudged(restricted_by: Entry['restricted_by'], contents: readonly string[]): Promise<void> {
    await this.#file.read(new AbortController().signal);
    const isKnown = (by: Entry['restricted_by'] | undefined): boolean =>
      by === CHILDREN || by === restricted_by;
    const added = [...new Set(contents)].filter((sha256) => !isKnown(this.#judged.get(hashNumber(sha256))));
    if (added.length > 0) await this.#file.append({ schema: 1, restricted_by, contents: added });
  }

  /** Adds content that a person finds restricted in an item; otherwise like `addJudged`. */
  async addFound(
    item: { readonly run: string; readonly seq: number },
    contents: readonly string[],
  ): Promise<void> {
    if (contents.length > 0)
      await this.#file.append({ schema: 1, restricted_by: CHILDREN, contents, ...item });
  }

  /**
   * The reason why content is restricted, by its hash or the first `PART_DIGITS` digits of it; null if it is not. In
   * its own run, a person's latest decision counts.
   */
  by(sha256: string, own: FoundInRun): Entry['restricted_by'] | null {
    const number = hashNumber(sha256);
    const found = this.#found.get(number)?.find(({ run, seq }) => run !== own.run || own.isFound(seq!));
    return found?.restricted_by ?? this.#judged.get(number) ?? null;
  }

  #take(line: unknown): void {
    const parsed = ENTRY.safeParse(line);
    if (!parsed.success)
      throw new Failure('internal', `${RESTRICTED_LIST} has a line that does not belong to the list`);
    const { contents, ...entry } = parsed.data;
    for (const number of contents.map(hashNumber)) {
      if (entry.run === undefined || entry.seq === undefined) {
        if (this.#judged.get(number) !== CHILDREN) this.#judged.set(number, entry.restricted_by);
      } else this.#found.set(number, [...(this.#found.get(number) ?? []), entry]);
    }
  }
}
