import { RUN_FILES } from '../../files/run-files.ts';
import { HAS } from '../log/commit-table.ts';
import { BatchResults, type BatchLine } from './batch-results.ts';
import type { Piece } from './committed-lines.ts';

/** Destination of a file's text. */
export interface TextTarget {
  write(content: string | readonly (string | Buffer)[]): Promise<void>;
}

/**
 * Makes the line files from the outcomes of a run: verdicts.jsonl, a copy of the committed bytes; errors.jsonl and the
 * results of batch requests, which need only the shards with such outcomes parsed.
 */
export class LineFiles {
  readonly #create: (name: string) => Promise<TextTarget>;
  readonly #files = new Map<string, TextTarget>();
  readonly #rows = new Map<string, number>();
  readonly #batch = new BatchResults();

  private constructor(create: (name: string) => Promise<TextTarget>) {
    this.#create = create;
  }

  /** `create` is called once per file, before its first text; the caller closes the files. */
  static async begin(create: (name: string) => Promise<TextTarget>): Promise<LineFiles> {
    const files = new LineFiles(create);
    await files.#write(RUN_FILES.verdicts, []);
    await files.#write(RUN_FILES.errors, []);
    return files;
  }

  /** Number of lines per file. */
  get rows(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#rows);
  }

  /** Must be called in corpus order. */
  async add(piece: Piece): Promise<void> {
    await this.#files.get(RUN_FILES.verdicts)!.write([piece.bytes]);
    this.#count(RUN_FILES.verdicts, piece.count);
    const has = (bit: number): boolean => (piece.shard.range.has & bit) !== 0;
    if (has(HAS.errors)) await this.#write(RUN_FILES.errors, piece.errors());
    if (has(HAS.batchParts)) await this.#addBatch(piece.lines().map((line) => this.#batch.add(line)));
  }

  /** Must be called once, after the last outcome. */
  async end(): Promise<void> {
    await this.#addBatch([this.#batch.end()]);
  }

  async #addBatch(lines: readonly (BatchLine | null)[]): Promise<void> {
    for (const line of lines) {
      if (line !== null)
        await this.#write(line.isError ? RUN_FILES.batchErrors : RUN_FILES.batchOutput, [line.value]);
    }
  }

  async #write(name: string, lines: readonly object[]): Promise<void> {
    let file = this.#files.get(name);
    if (file === undefined) this.#files.set(name, (file = await this.#create(name)));
    this.#count(name, lines.length);
    if (lines.length > 0) await file.write(lines.map((line) => `${JSON.stringify(line)}\n`));
  }

  #count(name: string, rows: number): void {
    this.#rows.set(name, (this.#rows.get(name) ?? 0) + rows);
  }
}
