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
  /** The item in which a person found it; without them a guard or a policy did. */
  run: z.string().optional(),
  seq: z.int().min(0).optional(),
});

type Entry = Omit<z.output<typeof ENTRY>, 'contents'>;

/** The items of a run that a person finds restricted now. */
export interface FoundInRun {
  readonly run: string;
  readonly isFound: (seq: number) => boolean;
}

/** The beginning of a hash as a number, which holds it exactly. */
export function hashNumber(sha256: string): number {
  return Number.parseInt(sha256.slice(0, PART_DIGITS), 16);
}

/** An item with its hashes. */
export interface HashedItem extends Pick<OutcomeLine, 'content_sha256'> {
  readonly source: Pick<OutcomeLine['source'], 'sha256'>;
}

/** The hashes that an item is known by: of its content, and of its file if that is the item. */
export function hashesOf({ content_sha256, source }: HashedItem): string[] {
  return [content_sha256, source.sha256].filter((sha256) => sha256 !== null);
}

/**
 * The hashes of all contents that were ever restricted in a folder of runs, in a file beside the runs: writers of verdicts
 * and of reviews append before they write, and nothing is removed. So what one run restricts stays so in every other, also
 * where it ended as an error or another model allowed it, and after its run is gone. Holds 40 bytes per content.
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

  /** The list of the folder that a run directory is in. Reads nothing yet. */
  static beside(runDir: string): RestrictedList {
    return new RestrictedList(dirname(resolve(runDir)));
  }

  get isEmpty(): boolean {
    return this.#judged.size === 0 && this.#found.size === 0;
  }

  /** Reads what was added since, by other processes too. Failure('internal') when the file fails verification. */
  read(signal: AbortSignal): Promise<void> {
    return this.#file.read(signal);
  }

  /** Adds contents that a guard or a policy restricts; on disk when this resolves. Failure('service') when the disk is full. */
  async addJudged(restricted_by: Entry['restricted_by'], contents: readonly string[]): Promise<void> {
    await this.#file.read(new AbortController().signal);
    const isKnown = (by: Entry['restricted_by'] | undefined): boolean =>
      by === CHILDREN || by === restricted_by;
    const added = [...new Set(contents)].filter((sha256) => !isKnown(this.#judged.get(hashNumber(sha256))));
    if (added.length > 0) await this.#file.append({ schema: 1, restricted_by, contents: added });
  }

  /** The same for what a person finds in an item. */
  async addFound(
    item: { readonly run: string; readonly seq: number },
    contents: readonly string[],
  ): Promise<void> {
    if (contents.length > 0)
      await this.#file.append({ schema: 1, restricted_by: CHILDREN, contents, ...item });
  }

  /** What restricts a content, by its hash or the first `PART_DIGITS` of it; null if nothing does. In its own run, what a person found is as it was said last. */
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
