import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { createFile } from '../../../files/create-file.ts';
import type { CallOptions } from '../../protocol/connection.ts';
import type { OpenAiCalls } from '../openai-calls.ts';
import { batchRequest, type BatchRequest, keyOf } from './request-id.ts';

/** What OpenAI's Batch API takes in one file. */
const MAX_REQUESTS = 50_000;
const MAX_BYTES = 200_000_000;

/** Lines that are written at once, in bytes. */
const WRITE_BYTES = 1024 * 1024;

/** A file of requests. */
export interface RequestFile {
  readonly name: string;
  readonly requests: number;
  readonly bytes: number;
}

/**
 * Writes what a guard is asked as request files of OpenAI's Batch API, each request once. Every call is answered at once
 * with nothing that is a verdict, so that a family which asks more after a `yes` asks all that it may ask.
 */
export class RequestFiles implements OpenAiCalls {
  readonly #folder: string;
  /** Keys of the requests so far. */
  readonly #keys = new Set<string>();
  readonly #files: { name: string; requests: number; bytes: number }[] = [];
  #file: FileHandle | null = null;
  #waiting: string[] = [];
  #waitingBytes = 0;
  #written: Promise<void> = Promise.resolve();

  /** `folder`: exists, and holds no request files. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  get(): Promise<unknown> {
    return Promise.resolve(null);
  }

  async post(path: string, value: object, { signal }: CallOptions): Promise<unknown> {
    signal.throwIfAborted();
    const request = batchRequest(path, value);
    const key = keyOf(request.id)!;
    if (!this.#keys.has(key)) {
      this.#keys.add(key);
      await this.#add(request);
    }
    // The number of tokens differs wherever requests do, as it should.
    return {
      choices: [{ message: { content: 'Yes' } }],
      usage: { prompt_tokens: request.json.length },
    };
  }

  /** Writes what is left, and the keys of all requests. Returns the files with requests. */
  async finish(keysName: string): Promise<readonly RequestFile[]> {
    await this.#write();
    await this.close();
    const file = await createFile(join(this.#folder, keysName));
    try {
      await file.writeFile(Buffer.from([...this.#keys].join(''), 'latin1'));
    } finally {
      await file.close();
    }
    return this.#files;
  }

  /** Idempotent. */
  async close(): Promise<void> {
    await this.#written.catch(() => undefined);
    await this.#file?.close();
    this.#file = null;
  }

  async #add({ path, json, id }: BatchRequest): Promise<void> {
    const line = `{"custom_id":"${id}","method":"POST","url":"${path}","body":${json}}\n`;
    this.#waiting.push(line);
    this.#waitingBytes += Buffer.byteLength(line);
    if (this.#waitingBytes >= WRITE_BYTES) await this.#write();
  }

  /** Writes the lines that wait behind those of earlier calls. */
  #write(): Promise<void> {
    const lines = this.#waiting;
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#written = this.#written.then(() => this.#append(lines));
    return this.#written;
  }

  async #append(lines: readonly string[]): Promise<void> {
    let text: string[] = [];
    for (const line of lines) {
      const bytes = Buffer.byteLength(line);
      let file = this.#files.at(-1);
      if (file === undefined || file.requests === MAX_REQUESTS || file.bytes + bytes > MAX_BYTES) {
        await this.#file?.appendFile(text.join(''));
        text = [];
        file = await this.#begin();
      }
      file.requests++;
      file.bytes += bytes;
      text.push(line);
    }
    await this.#file?.appendFile(text.join(''));
  }

  async #begin(): Promise<{ name: string; requests: number; bytes: number }> {
    await this.#file?.close();
    const name = `requests-${String(this.#files.length + 1).padStart(4, '0')}.jsonl`;
    this.#file = await createFile(join(this.#folder, name));
    const file = { name, requests: 0, bytes: 0 };
    this.#files.push(file);
    return file;
  }
}

/** Files in a folder that `batch export` writes, beside the request files. */
export const BATCH_FILES = {
  /** The run that the requests are of. */
  batch: 'batch.json',
  /** The beginnings of the ids of all requests. */
  keys: 'requests.keys',
} as const;
