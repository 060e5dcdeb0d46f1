import { createHash, randomBytes } from 'node:crypto';
import { type FileHandle, mkdtemp, open, rm, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addAbortSignal, type Readable } from 'node:stream';
import { type ItemError, itemError } from '../../domain/item-error.ts';
import type { MediaFile } from '../../domain/request.ts';
import { LocalFile } from '../../ingest/sources/source-file.ts';
import type { MediaFiles } from '../../moderate/media/media-judge.ts';

const CORPUS = 'upload';

/** A file that was received. */
export interface Upload {
  readonly file: MediaFile;
  /** Closes the file, which deletes it. Idempotent. */
  discard(): Promise<void>;
}

/**
 * Uploaded files, on disk: they are too large for memory, and decoders open them. Each is unlinked as soon as it is
 * open, so none outlives its request, even if this process crashes.
 */
export class Uploads implements MediaFiles {
  readonly #folder: string;
  readonly #files = new Map<string, FileHandle>();

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** Creates a folder that only this user can access in the system's folder for temporary files. */
  static async create(): Promise<Uploads> {
    return new Uploads(await mkdtemp(join(tmpdir(), 'guardsweep-uploads-')));
  }

  /** Stores a stream, which must be bounded. Rejects with the signal's reason, or as the stream does. */
  async receive(stream: Readable, signal: AbortSignal): Promise<Upload> {
    const path = randomBytes(16).toString('hex');
    const absolute = join(this.#folder, path);
    const handle = await open(absolute, 'wx+', 0o600);
    const discard = async (): Promise<void> => {
      this.#files.delete(path);
      await handle.close();
    };
    try {
      await unlink(absolute);
      const hash = createHash('sha256');
      let bytes = 0;
      addAbortSignal(signal, stream);
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        hash.update(chunk);
        await handle.writeFile(chunk);
        bytes += chunk.length;
      }
      signal.throwIfAborted();
      this.#files.set(path, handle);
      return { file: { corpus: CORPUS, path, sha256: hash.digest('hex'), bytes }, discard };
    } catch (error) {
      await discard();
      signal.throwIfAborted();
      throw error;
    }
  }

  /** Hands an upload over: the caller closes it. */
  async open({ path }: Pick<MediaFile, 'corpus' | 'path'>): Promise<LocalFile | ItemError> {
    const handle = this.#files.get(path);
    this.#files.delete(path);
    return handle === undefined ? itemError('INTERNAL', 'the upload is gone') : new LocalFile(handle);
  }

  /** Removes the folder, once no upload is open. */
  async close(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }
}
