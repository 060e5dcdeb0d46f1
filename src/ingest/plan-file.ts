import { open, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { retryWhileDiskFull, type DiskFullPolicy } from './disk-full.ts';
import { syncDirectory } from './durable-write.ts';
import { GroupCommit } from './group-commit.ts';
import { type PlanLine } from './plan-line.ts';
import { PlanState } from './plan-state.ts';
import { readRecordLines } from './record-lines.ts';

export interface PlanWriterOptions {
  readonly diskFull: DiskFullPolicy;
  /** Throws Failure('superseded') once another process continues the run: nothing is appended after that. */
  readonly assertCurrent: () => Promise<void>;
}

/** Appends to plan.jsonl. A shard is queued only after `append` has resolved for its line. */
export class PlanWriter {
  /** What the plan says, lines whose append has not resolved yet included. */
  readonly state: PlanState;
  readonly #handle: FileHandle;
  readonly #options: PlanWriterOptions;
  readonly #group: GroupCommit<string>;

  private constructor(handle: FileHandle, state: PlanState, options: PlanWriterOptions) {
    this.#handle = handle;
    this.state = state;
    this.#options = options;
    this.#group = new GroupCommit((texts) => this.#write(Buffer.from(texts.join(''))));
  }

  /**
   * Opens the plan, creating it if it is not there, and takes in what is planned already. A last line without its
   * newline was torn off by a crash, and nothing was queued on its strength: it is cut away.
   * Failure('internal') names a line that does not hold.
   */
  static async open(path: string, options: PlanWriterOptions): Promise<PlanWriter> {
    const handle = await open(path, 'a', 0o600);
    try {
      const state = new PlanState();
      let bytes = 0;
      for await (const lines of readRecordLines(path, { signal: options.diskFull.signal })) {
        for (const line of lines) {
          state.takeBytes(line);
          bytes += line.length + 1;
        }
      }
      if ((await handle.stat()).size > bytes) await handle.truncate(bytes);
      await handle.sync();
      await syncDirectory(dirname(path));
      return new PlanWriter(handle, state, options);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /**
   * Resolves when the lines are on the disk; appends that come together share one write. Lines must follow on what
   * is planned (Failure('internal') otherwise); a line that repeats what is planned is left out.
   */
  async append(lines: readonly PlanLine[]): Promise<void> {
    let text = '';
    for (const line of lines) if (this.state.take(line)) text += `${JSON.stringify(line)}\n`;
    await this.#group.add(text);
  }

  async close(): Promise<void> {
    await this.#group.close();
    await this.#handle.close();
  }

  async #write(bytes: Buffer): Promise<void> {
    let cutTo: number | null = null;
    const attempt = async (): Promise<void> => {
      await this.#options.assertCurrent();
      if (cutTo !== null) await this.#handle.truncate(cutTo);
      cutTo = (await this.#handle.stat()).size;
      for (let written = 0; written < bytes.length;) {
        written += (await this.#handle.write(bytes, written)).bytesWritten;
      }
      await this.#handle.datasync();
    };
    await retryWhileDiskFull('plan.jsonl', attempt, this.#options.diskFull);
  }
}

export interface ReadPlanOptions {
  readonly signal: AbortSignal;
  /** Read only the first so many bytes; default: to the end. */
  readonly bytes?: number;
}

/**
 * The lines of a plan in order, in batches; void ones (see PlanState) and a torn last one are left out. A plan that
 * does not exist yet is empty. Failure('internal') names a line that does not hold.
 */
export async function* readPlan(path: string, options: ReadPlanOptions): AsyncGenerator<PlanLine[], void> {
  const state = new PlanState();
  try {
    for await (const batch of readRecordLines(path, options)) {
      const lines = batch.map((bytes) => state.takeBytes(bytes)).filter((line) => line !== null);
      if (lines.length > 0) yield lines;
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
