import type { FileHandle } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { z } from 'zod';
import {
  type AskOptions,
  LineProcess,
  ProcessFailure,
  type ProcessFault,
} from '../../confinement/line-process.ts';
import type { Problem, Request } from './child/messages.ts';
import { errorWithReason, itemError, type ItemError } from '../../domain/item-error.ts';

/** Why the rest of a Parquet file cannot be read. The rows before it were returned. */
export class ParquetProblem extends Error {
  override readonly name = 'ParquetProblem';
  readonly error: ItemError;

  constructor(error: ItemError) {
    super(error.message);
    this.error = error;
  }
}

function unreadable(message: string): ParquetProblem {
  return new ParquetProblem(itemError('UNREADABLE_SOURCE', message));
}

/** Error for a file that violates the format. `what` names the part, in our own words. */
export function damaged(what: string): ParquetProblem {
  return unreadable(`the Parquet file is damaged: ${what}`);
}

/** Error for a file that exceeds a limit on memory. */
export function tooLarge(what: string): ParquetProblem {
  return new ParquetProblem(itemError('ITEM_TOO_LARGE', what));
}

/** Entry point of the process, which runs compiled code. */
const ENTRY = createRequire(import.meta.url).resolve('#dist/src/formats/parquet/child/main.js');

/** Memory limit of the process: Node itself, DuckDB's buffers of 512 MB, and the batches. */
const MEMORY_BYTES = 2 * 1024 * 1024 * 1024;

/** The process ended for a reason other than the file. */
const UNAVAILABLE = new ParquetProblem(
  itemError('INTERNAL', 'the process that reads Parquet files ended unexpectedly'),
);

/** An open file that was checked, and its size then. */
export interface OpenTable {
  readonly handle: FileHandle;
  readonly bytes: number;
}

/**
 * A process that reads one Parquet file with DuckDB, because untrusted files must not reach native code in this process. It
 * answers one request at a time.
 */
export class TableProcess {
  readonly #process: LineProcess;

  /** `descriptors` become descriptors 3 and up in the process. The caller may close them once this returns. */
  constructor(descriptors: readonly number[]) {
    this.#process = new LineProcess(ENTRY, { memoryBytes: MEMORY_BYTES, descriptors });
  }

  /**
   * Asks for an answer of up to `maxBytes`. Rejects with ParquetProblem, including if the process crashes on the file
   * or takes longer than `processorMs`, or with the signal's reason. A crash, an excess or an abort ends the process.
   */
  async ask<T extends { readonly cpuMs: number; readonly problem?: Problem | undefined }>(
    request: Request,
    answer: z.ZodType<T>,
    options: AskOptions,
  ): Promise<T> {
    const answered = await this.#process.ask(request, answer, options).catch((error: unknown) => {
      throw error instanceof ProcessFailure ? problemOf(error.fault) : error;
    });
    if (answered.problem !== undefined) throw createProblem(answered.problem);
    return answered;
  }

  /** Kills the process; settles when it is gone. */
  kill(): Promise<void> {
    return this.#process.kill();
  }
}

function problemOf(fault: ProcessFault): ParquetProblem {
  switch (fault) {
    case 'crashed':
      return new ReaderCrashedError();
    case 'ended':
      return UNAVAILABLE;
    case 'too-large':
      return tooLarge('a row of the Parquet file is too large');
    case 'too-slow':
      return tooLarge('the rest of the Parquet file takes too long to read');
  }
}

/** The process crashed on the file, perhaps because many rows at once take too much memory. */
export class ReaderCrashedError extends ParquetProblem {
  constructor() {
    super(itemError('UNREADABLE_SOURCE', 'the Parquet file is damaged: it crashes its reader'));
  }
}

function createProblem({ kind, column }: Problem): ParquetProblem {
  switch (kind) {
    case 'damaged':
      return damaged('its rows cannot be read');
    case 'memory':
      return tooLarge('a row of the Parquet file takes too much memory');
    case 'encrypted':
      return unreadable('the Parquet file is encrypted');
    case 'codec':
      return new ParquetProblem(
        errorWithReason(
          'parquet_codec',
          'the Parquet file uses the old LZ4 codec, or another unsupported one: rewrite it with a supported codec',
        ),
      );
    case 'encoding':
      return unreadable(`the Parquet file has text that is not UTF-8, in ${column ?? 'some column'}`);
  }
}
