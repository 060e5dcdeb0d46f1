import type { FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Failure } from '../../domain/failure.ts';
import { openForAppending } from '../../files/create-file.ts';
import { retryWhileDiskFull, type DiskFullPolicy } from '../../files/disk-full.ts';
import { syncDirectory } from '../../files/durable-write.ts';
import { GroupCommit } from '../../files/group-commit.ts';
import { encodePlanLine, type PlanChanged, type PlanFileLine, type PlanLine } from './plan-line.ts';
import { PlanState } from './plan-state.ts';
import { readRecordLines } from '../../files/record-lines.ts';

const NEWLINE = 0x0a;

export interface PlanWriterOptions {
  /** The epoch of the verdict log that the writer has claimed. */
  readonly epoch: number;
  readonly diskFull: DiskFullPolicy;
  /** Throws Failure('superseded') once another process has taken over the run; nothing is appended after that. */
  readonly assertCurrent: () => Promise<void>;
}

/**
 * Appends to plan.jsonl. A shard is queued only after `append` has resolved for its line.
 *
 * Writers of earlier epochs may still append to the file. The check that a writer is current and the write that follows
 * are not atomic: a stopped process may wake up in between. So a writer never changes existing bytes, even torn lines,
 * and lines appended too late are void because of their epoch (see PlanState).
 */
export class PlanWriter {
  /** State of the plan, including lines whose append has not resolved yet. */
  readonly state: PlanState;
  readonly #handle: FileHandle;
  readonly #options: PlanWriterOptions;
  readonly #group: GroupCommit<readonly PlanFileLine[]>;

  private constructor(handle: FileHandle, state: PlanState, options: PlanWriterOptions) {
    this.#handle = handle;
    this.state = state;
    this.#options = options;
    this.#group = new GroupCommit((entries) => this.#write(entries.flat()));
  }

  /**
   * Opens the plan, creating it if necessary. First appends the opening line, which voids whatever earlier epochs
   * append after it, and reads the plan only when that line is durable. Failure('internal') names an invalid line;
   * Failure('superseded') if a later epoch has opened the plan.
   */
  static async open(path: string, options: PlanWriterOptions): Promise<PlanWriter> {
    const create = (): Promise<FileHandle> => openForAppending(path);
    const handle = await retryWhileDiskFull('plan.jsonl', create, options.diskFull);
    try {
      const state = new PlanState();
      const writer = new PlanWriter(handle, state, options);
      await writer.#write([{ opened: options.epoch }]);
      await syncDirectory(dirname(path));
      for await (const lines of readRecordLines(path, { signal: options.diskFull.signal })) {
        for (const line of lines) state.takeBytes(line);
      }
      if (state.epoch !== options.epoch) {
        throw new Failure('superseded', 'another process has taken over this run: this one stops planning');
      }
      return writer;
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /**
   * Resolves when the lines are durable; concurrent appends share one write. The lines must continue the plan
   * (Failure('internal') otherwise); lines that are already in the plan are skipped.
   */
  async append(lines: readonly PlanLine[]): Promise<void> {
    const { epoch } = this.#options;
    const fresh = lines.filter((line) => this.state.take(line));
    await this.#group.add(fresh.map((line) => ({ epoch, ...line })));
  }

  /** Records that a planned shard is fed with different items. Resolves when that is durable. */
  async change(line: PlanChanged): Promise<void> {
    const { epoch } = this.#options;
    if (this.state.takeChange(line)) await this.#group.add([{ epoch, ...line }]);
  }

  async close(): Promise<void> {
    await this.#group.close();
    await this.#handle.close();
  }

  /**
   * Rewrites lines that were partly written, or may have been interleaved with those of another writer. A superseded
   * writer writes at most once more, so the loop ends.
   */
  async #write(lines: readonly PlanFileLine[]): Promise<void> {
    const text = lines.map((line) => `${encodePlanLine(line)}\n`).join('');
    const attempt = async (): Promise<void> => {
      do await this.#options.assertCurrent();
      while (!(await appendWhole(this.#handle, text)));
      await this.#handle.datasync();
    };
    await retryWhileDiskFull('plan.jsonl', attempt, this.#options.diskFull);
  }
}

/** Appends lines, starting a new line after a torn one. False if another writer may have written in between. */
async function appendWhole(handle: FileHandle, lines: string): Promise<boolean> {
  const { size } = await handle.stat();
  const bytes = Buffer.from((await endsWithLine(handle, size)) ? lines : `\n${lines}`);
  for (let written = 0; written < bytes.length;) {
    written += (await handle.write(bytes, written)).bytesWritten;
  }
  return (await handle.stat()).size === size + bytes.length;
}

async function endsWithLine(handle: FileHandle, size: number): Promise<boolean> {
  if (size === 0) return true;
  const last = Buffer.alloc(1);
  await handle.read(last, 0, 1, size - 1);
  return last[0] === NEWLINE;
}

interface ReadPlanOptions {
  readonly signal: AbortSignal;
  /** Number of bytes to read; default: to the end. */
  readonly bytes?: number;
}

/** State of a whole plan; a missing plan counts as empty. Failure('internal') names an invalid line. */
export async function readPlanState(path: string, signal: AbortSignal): Promise<PlanState> {
  const state = new PlanState();
  try {
    for await (const batch of readRecordLines(path, { signal })) {
      for (const bytes of batch) state.takeBytes(bytes);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  return state;
}

/**
 * The lines of a plan in order, in batches, without void lines (see PlanState) and a torn last line. A missing plan
 * counts as empty. Failure('internal') names an invalid line.
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
