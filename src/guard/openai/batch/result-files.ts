import { createHash, type Hash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { z } from 'zod';
import type { BatchResults } from '../../../config/run-config.ts';
import { Failure } from '../../../domain/failure.ts';
import { quoteName } from '../../../domain/text/escape-text.ts';
import { openFile } from '../../../files/open-file.ts';
import { readFully } from '../../../files/read-fully.ts';
import { CallError } from '../../protocol/call-error.ts';
import type { CallOptions } from '../../protocol/connection.ts';
import type { OpenAiCalls } from '../openai-calls.ts';
import { openAiFailed } from '../openai-faults.ts';
import { batchRequest, keyOf } from './request-id.ts';

/** HTTP status of a request that the batch did not come to, or that failed before it was answered. */
const NOT_ANSWERED = 503;

/** A line of an output or an error file. */
const RESULT = z.object({
  custom_id: z.string(),
  response: z.object({ status_code: z.number().int(), body: z.unknown() }).nullish(),
  error: z.unknown(),
});

/** Lines of result files by what they are. */
interface ResultCounts {
  /** Requests, and those of them that have a result. */
  readonly requests: number;
  answered: number;
  /** Results of a request that had one already. */
  duplicates: number;
  /** Results of requests that are none of this batch. */
  unknown: number;
  /** Lines that are too long or no results. */
  unreadable: number;
}

/**
 * The result of every request by its id, from output and error files of OpenAI's Batch API. In memory is only where each
 * line is, about 100 bytes a request; unknown ids take none. Of several results of a request the first that succeeded counts, else the first.
 */
export class ResultFiles implements OpenAiCalls {
  /** Number of each request by its key. */
  readonly #numbers: ReadonlyMap<string, number>;
  readonly #files: FileHandle[] = [];
  readonly #fileOf: Uint16Array;
  readonly #offsetOf: Float64Array;
  /** 0: there is no result. */
  readonly #bytesOf: Uint32Array;
  readonly #isOk: Uint8Array;
  readonly #counts: ResultCounts;

  private constructor(keys: Iterable<string>) {
    const numbers = new Map<string, number>();
    for (const key of keys) numbers.set(key, numbers.size);
    this.#numbers = numbers;
    const { size } = numbers;
    this.#fileOf = new Uint16Array(size);
    this.#offsetOf = new Float64Array(size);
    this.#bytesOf = new Uint32Array(size);
    this.#isOk = new Uint8Array(size);
    this.#counts = { requests: size, answered: 0, duplicates: 0, unknown: 0, unreadable: 0 };
  }

  /**
   * Reads the files once. `keys`: of all requests. Failure('usage') for a file that cannot be read, or is not the one that
   * was named. The caller closes it.
   */
  static async open(
    keys: Iterable<string>,
    files: BatchResults['files'],
    signal: AbortSignal,
  ): Promise<ResultFiles> {
    const results = new ResultFiles(keys);
    try {
      for (const file of files) await results.#index(file, signal);
      return results;
    } catch (error) {
      await results.close();
      throw error;
    }
  }

  get counts(): Readonly<ResultCounts> {
    return this.#counts;
  }

  get(): Promise<unknown> {
    return Promise.resolve(null);
  }

  async post(path: string, value: object, { signal }: CallOptions): Promise<unknown> {
    signal.throwIfAborted();
    const { id } = batchRequest(path, value);
    const number = this.#numbers.get(keyOf(id)!);
    const bytes = number === undefined ? 0 : this.#bytesOf[number]!;
    if (number === undefined || bytes === 0) throw notAnswered();
    const file = this.#files[this.#fileOf[number]!]!;
    const line = await readFully(file, Buffer.allocUnsafe(bytes), this.#offsetOf[number]!);
    const result = resultIn(line);
    if (result?.custom_id !== id) throw notAnswered();
    const { response, error } = result;
    if (response == null) {
      if (error == null) return null;
      throw failed(NOT_ANSWERED, { error });
    }
    if (response.status_code < 200 || response.status_code > 299)
      throw failed(response.status_code, response.body);
    return response.body;
  }

  async close(): Promise<void> {
    await Promise.all(this.#files.map((file) => file.close()));
    this.#files.length = 0;
  }

  async #index({ path, sha256 }: BatchResults['files'][number], signal: AbortSignal): Promise<void> {
    let file: FileHandle;
    try {
      file = await openFile(path, 'refuse');
    } catch (cause) {
      const code = (cause as NodeJS.ErrnoException).code ?? 'unknown error';
      throw new Failure('usage', `${quoteName(path)} cannot be read (${code})`, { cause });
    }
    const number = this.#files.push(file) - 1;
    const hash = createHash('sha256');
    for await (const lines of readResultLines(file, hash, signal))
      for (const line of lines) this.#add(number, line);
    if (hash.digest('hex') !== sha256)
      throw new Failure('usage', `${quoteName(path)} has changed since the results were taken from it`);
  }

  #add(file: number, { offset, bytes }: ResultLine): void {
    const counts = this.#counts;
    const result = bytes && resultIn(bytes);
    const key = result && keyOf(result.custom_id);
    if (result === null) {
      counts.unreadable++;
      return;
    }
    const number = key === null ? undefined : this.#numbers.get(key);
    if (number === undefined) {
      counts.unknown++;
      return;
    }
    const isOk = result.response?.status_code === 200;
    if (this.#bytesOf[number] === 0) counts.answered++;
    else {
      counts.duplicates++;
      if (!isOk || this.#isOk[number] === 1) return;
    }
    this.#fileOf[number] = file;
    this.#offsetOf[number] = offset;
    this.#bytesOf[number] = bytes!.length;
    this.#isOk[number] = Number(isOk);
  }
}

/** Null for a line that is no result. */
function resultIn(line: Buffer): z.output<typeof RESULT> | null {
  try {
    return RESULT.safeParse(JSON.parse(line.toString('utf8'))).data ?? null;
  } catch {
    return null;
  }
}

function notAnswered(): CallError {
  return new CallError('no result', { kind: 'attempt', code: 'GUARD_UNAVAILABLE' });
}

function failed(status: number, body: unknown): CallError {
  return openAiFailed({ status, headers: {}, body: Buffer.from(JSON.stringify(body ?? null)) });
}

const CHUNK_BYTES = 1024 * 1024;
const NEWLINE = 0x0a;

/** A longer line is skipped: an answer with the most alternatives a token takes a quarter of it. */
const MAX_LINE_BYTES = 2 * 1024 * 1024;

interface ResultLine {
  /** Where it begins in the file. */
  readonly offset: number;
  /** Without its line break; null for a line that is too long. */
  readonly bytes: Buffer | null;
}

/** The lines of an open file that are not blank, many at a time; `hash` takes all its bytes. Memory is bounded whatever it holds. */
async function* readResultLines(
  file: FileHandle,
  hash: Hash,
  signal: AbortSignal,
): AsyncGenerator<readonly ResultLine[], void> {
  let at = 0;
  let offset = 0;
  let carry: Buffer[] = [];
  let carried = 0;
  const end = (piece: Buffer): ResultLine[] => {
    const isLong = carried + piece.length > MAX_LINE_BYTES;
    const bytes = isLong ? null : Buffer.concat([...carry, piece]);
    const line = { offset, bytes };
    offset += carried + piece.length + 1;
    carry = [];
    carried = 0;
    return bytes?.toString('latin1').trim() === '' ? [] : [line];
  };
  for (;;) {
    signal.throwIfAborted();
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES, at);
    if (bytesRead === 0) break;
    at += bytesRead;
    const chunk = buffer.subarray(0, bytesRead);
    hash.update(chunk);
    const lines: ResultLine[] = [];
    let start = 0;
    for (let next = chunk.indexOf(NEWLINE); next !== -1; next = chunk.indexOf(NEWLINE, start)) {
      lines.push(...end(chunk.subarray(start, next)));
      start = next + 1;
    }
    if (start < chunk.length) {
      carried += chunk.length - start;
      if (carried > MAX_LINE_BYTES) carry = [];
      else carry.push(chunk.subarray(start));
    }
    yield lines;
  }
  if (carried > 0) yield end(Buffer.alloc(0));
}
