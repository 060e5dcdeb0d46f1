import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { RUN_FILES } from '../../files/run-files.ts';
import { fileBytes, matchesSnapshot } from '../../ingest/sources/file-bytes.ts';
import { locateSource, openPlace } from '../../ingest/sources/file-place.ts';
import { readSources, type SourceSnapshot } from '../../ingest/sources/sources-file.ts';
import { sourceHashLine } from '../../record/manifest/source-hashes.ts';
import type { RunTotals } from '../../record/outcomes/run-totals.ts';
import type { LogWriter } from '../verdict-log/log-writer.ts';
import type { FinalFile } from './final-file.ts';

/**
 * Writes source-hashes.jsonl, one line per source: this keeps the manifest small however many sources a run has.
 * Returns the number of sources.
 */
export async function writeSourceHashes(
  file: FinalFile,
  { runDir, record }: LogWriter,
  totals: RunTotals,
  signal: AbortSignal,
): Promise<number> {
  // A trial that judges the first records does not read the rest of a file just to hash it.
  let sources = 0;
  const isRead = typeof record.config.trial?.limit !== 'number';
  for await (const batch of readSources(join(runDir, RUN_FILES.sources), { signal })) {
    sources += batch.length;
    for (const source of batch) {
      const sha256 = totals.isChanged(source.source)
        ? null
        : (totals.fileHash(source.source) ?? (isRead ? await hashSource(source, signal) : null));
      await file.write(sourceHashLine({ source: source.source, sha256 }));
    }
  }
  return sources;
}

/** SHA-256 of a source; null when it cannot be read or has changed since the run was created. */
export async function hashSource(source: SourceSnapshot, signal: AbortSignal): Promise<string | null> {
  try {
    const handle = await openPlace(locateSource(source), signal);
    try {
      if (!matchesSnapshot(handle.state(), source)) return null;
      const hash = createHash('sha256');
      for await (const piece of fileBytes(handle, source.bytes, signal)) hash.update(piece);
      return matchesSnapshot(handle.state(), source) ? hash.digest('hex') : null;
    } finally {
      await handle.close();
    }
  } catch {
    signal.throwIfAborted();
    return null;
  }
}
