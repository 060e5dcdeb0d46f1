import { createHash } from 'node:crypto';
import type { OutcomeLine } from '../../domain/outcome.ts';
import type { RereadSource } from '../../ingest/reread/reread-source.ts';
import type { SidecarSnapshot } from '../../ingest/sources/sources-file.ts';
import { fileBytes, matchesSnapshot } from '../../ingest/sources/file-bytes.ts';
import { openPlace, locateSidecar } from '../../ingest/sources/file-place.ts';
import { noRows, type RowCounts } from './left-out.ts';
import type { OutputFile, WrittenFile } from './output.ts';
import type { JudgedSource, SourceExport } from './source-export.ts';
import { SourceRefused } from './reasons.ts';

/** Copies a file that is one item. SourceRefused if it is not the file that was judged. */
export async function copyFile(
  again: RereadSource,
  out: OutputFile,
  [line]: readonly OutcomeLine[],
  { sha256 }: JudgedSource,
): Promise<RowCounts> {
  const hash = createHash('sha256');
  for await (const piece of again.stored()) {
    hash.update(piece);
    await out.write(piece);
  }
  const found = hash.digest('hex');
  if (found !== sha256 || found !== line!.source.sha256) throw new SourceRefused('source_changed');
  return { ...noRows(), kept: 1 };
}

/**
 * Copies the text that was judged with a file; null if it was already copied with another one. SourceRefused if it has
 * changed since the run was created.
 */
export async function copyCaption(
  caption: SidecarSnapshot,
  { place, captions, signal }: SourceExport,
): Promise<WrittenFile | null> {
  if (captions.has(caption.path)) return null;
  const handle = await openPlace(locateSidecar(caption), signal);
  try {
    const assertSame = (): void => {
      if (!matchesSnapshot(handle.state(), caption)) throw new SourceRefused('source_changed');
    };
    assertSame();
    const out = await place.create(caption.path, null);
    try {
      for await (const piece of fileBytes(handle, caption.bytes, signal)) await out.write(piece);
      assertSame();
      const written = await out.complete();
      captions.add(caption.path);
      return written;
    } catch (error) {
      await out.close();
      await place.remove(caption.path);
      throw error;
    }
  } finally {
    await handle.close();
  }
}
