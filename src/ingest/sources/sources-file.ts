import { z } from 'zod';
import type { SourceConfig } from '../../config/run-config.ts';
import { Failure } from '../../domain/failure.ts';
import { decodeLine } from '../../files/checked-line.ts';
import { readRecordLines } from '../../files/record-lines.ts';

const count = z.int().min(0);

/** Identifies a file and its version: size, times of modification and change, and inode. */
const FILE = z.strictObject({
  bytes: count,
  /** Milliseconds since the Unix epoch, with the fraction that the file system provides. */
  mtime_ms: z.number(),
  /** Unlike the modification time, programs cannot set this back after a write. */
  ctime_ms: z.number(),
  inode: z.number(),
  /** Set for an object in object storage, which has no inode: both times are its storage time. */
  object: z.strictObject({ etag: z.string(), version: z.string().nullable() }).readonly().optional(),
});

/** A file that is not a source but describes one: the text next to a media file, or a manifest. */
const SIDECAR = FILE.extend({
  /** Like the path of a SourceSnapshot. */
  path: z.string(),
  absolute: z.string(),
});

/** One line of sources.jsonl: a file in its state when the run was created. */
const SOURCE = FILE.extend({
  /** 0-based; files are read in this order. */
  source: count,
  /** Index into the configuration's `sources`. */
  corpus: count,
  /** Index into the `for` of that source; absent for a file that matches none of its globs. */
  settings: count.optional(),
  /**
   * The path in outcome lines: the corpus's own name and the path below it, separated by `/`. Unique within a run. An
   * encoded path.
   */
  path: z.string(),
  /** An encoded path. */
  absolute: z.string(),
  /** Text file with the caption of an image or the transcript of an audio clip; null if there is none next to it. */
  sidecar: SIDECAR.readonly().nullable(),
  /**
   * The manifest of the corpus, which lists files with ids and captions: the index of a source (a manifest refers to
   * itself), or a file that is not a source, if only the listed file was named or matched.
   */
  manifest: z.union([count, SIDECAR.readonly()]).nullable(),
});

export type FileSnapshot = Readonly<z.infer<typeof FILE>>;
export type SidecarSnapshot = Readonly<z.infer<typeof SIDECAR>>;
export type SourceSnapshot = Readonly<z.infer<typeof SOURCE>>;

/** How a file is read: with its source's settings, or those of the glob that it matches. */
export function configOf(
  { corpus, settings }: Pick<SourceSnapshot, 'corpus' | 'settings'>,
  configs: readonly SourceConfig[],
): SourceConfig {
  const config = configs[corpus]!;
  return settings === undefined ? config : { ...config, ...config.for?.[settings] };
}

/**
 * The lines of sources.jsonl in order, in batches. Failure('internal') names an invalid line; a missing file rejects
 * with the system's ENOENT.
 */
export async function* readSources(
  path: string,
  options: { readonly signal: AbortSignal },
): AsyncGenerator<SourceSnapshot[], void> {
  let expected = 0;
  for await (const batch of readRecordLines(path, options)) {
    yield batch.map((bytes) => {
      const source = decodeLine(SOURCE, bytes);
      if (typeof source === 'string') {
        throw new Failure('internal', `sources.jsonl line ${expected + 1} is damaged`);
      }
      if (source.source !== expected) {
        throw new Failure('internal', `sources.jsonl line ${expected + 1} is out of order`);
      }
      expected++;
      return source;
    });
  }
}
