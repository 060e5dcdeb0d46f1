import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import type { FrozenSource } from '../plan/plan-line.ts';
import { mediaKindByName } from '../recognise/binary-kind.ts';
import { placeOfSource } from './file-place.ts';
import { SourceContent } from './open-source.ts';
import type { FilesRead, FileToRead } from './read-ahead-thread.ts';

/** Entry point of the thread, which runs compiled code. */
const ENTRY = createRequire(import.meta.url).resolve('#dist/src/ingest/sources/read-ahead-thread.js');

/** Largest file that is read ahead, and what is read at once. Two batches are held. */
const SMALL_BYTES = 64 * 1024;
const BATCH_BYTES = 1024 * 1024;
const BATCH_FILES = 64;
/** Fewer files are opened one by one: that takes less than to start a thread. */
const MIN_FILES = 32;
/** Sources considered for a batch. */
const BATCH_SOURCES = 256;

/** Sources from one number up to another, and those of them that were read. */
interface Batch {
  readonly from: number;
  readonly end: number;
  readonly contents: Promise<ReadonlyMap<number, SourceContent>>;
}

/**
 * Reads small text files of folders before it is their turn, in a thread, because a call into the pool for each step of each
 * file takes three times the processor time. A file counts only if it is the ordinary file inside its corpus that was
 * frozen; any other has to be opened in the usual way, which reports what is wrong with it. Needs the descriptors that Linux
 * shows in /proc; elsewhere nothing is read ahead.
 */
export class SourcesAhead {
  readonly #sources: readonly FrozenSource[];
  #thread: Worker | null = null;
  /** Whether no thread is available. */
  #isOff = process.platform !== 'linux';
  #waiting: ((read: FilesRead | null) => void)[] = [];
  #now: Batch | null = null;
  #next: Batch | null = null;

  /** `sources`: of a run, in order. */
  constructor(sources: readonly FrozenSource[]) {
    this.#sources = sources;
  }

  /** The content of a source, to be taken once; null for one that was not read. Sources are taken in order. */
  async take({ source: number }: FrozenSource): Promise<SourceContent | null> {
    if (this.#now === null || number < this.#now.from || number >= this.#now.end) {
      const isNext = this.#next !== null && number >= this.#next.from && number < this.#next.end;
      this.#now = isNext ? this.#next! : this.#begin(number);
      this.#next = this.#begin(this.#now.end);
    }
    return (await this.#now.contents).get(number) ?? null;
  }

  async close(): Promise<void> {
    this.#isOff = true;
    await this.#thread?.terminate();
  }

  #begin(from: number): Batch {
    const files = new Map<number, FileToRead>();
    let bytes = 0;
    let end = from;
    for (; end < this.#sources.length && end < from + BATCH_SOURCES && files.size < BATCH_FILES; end++) {
      const file = smallFile(this.#sources[end]!);
      if (file === null) continue;
      if ((bytes += file.bytes) > BATCH_BYTES) break;
      files.set(end, file);
    }
    const isWorthIt = files.size >= MIN_FILES || (files.size > 0 && this.#thread !== null);
    const contents = isWorthIt && !this.#isOff ? this.#read(files) : Promise.resolve(new Map());
    return { from, end, contents };
  }

  async #read(files: ReadonlyMap<number, FileToRead>): Promise<ReadonlyMap<number, SourceContent>> {
    const thread = (this.#thread ??= this.#start());
    thread.ref();
    const read = await new Promise<FilesRead | null>((resolve) => {
      this.#waiting.push(resolve);
      thread.postMessage([...files.values()]);
    });
    const contents = new Map<number, SourceContent>();
    if (read === null) return contents;
    let at = 0;
    for (const [index, [number, file]] of [...files].entries()) {
      const bytes = Buffer.from(read.bytes.buffer, at, file.bytes);
      at += file.bytes;
      const sha256 = read.sha256[index] ?? null;
      if (sha256 !== null) contents.set(number, SourceContent.of(bytes, sha256));
    }
    return contents;
  }

  #start(): Worker {
    const thread = new Worker(ENTRY, { name: 'read-ahead' });
    // It answers in order. Between its answers it does not keep this process alive.
    thread.on('message', (read: FilesRead) => {
      this.#waiting.shift()!(read);
      if (this.#waiting.length === 0) thread.unref();
    });
    thread.on('error', () => {});
    thread.on('exit', () => {
      this.#isOff = true;
      for (const resolve of this.#waiting.splice(0)) resolve(null);
    });
    return thread;
  }
}

/** Null for a file that the user named, a list of files, and one that is large or probably not text. */
function smallFile(source: FrozenSource): FileToRead | null {
  const { absolute, bytes, mtime_ms, ctime_ms, inode } = source;
  if (bytes > SMALL_BYTES || source.manifest === source.source || mediaKindByName(absolute) !== null)
    return null;
  const { within } = placeOfSource(source);
  return within === null || bytes === 0 ? null : { absolute, within, bytes, mtime_ms, ctime_ms, inode };
}
