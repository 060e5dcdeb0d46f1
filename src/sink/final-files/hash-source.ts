import { isAsFrozen } from '../../ingest/sources/file-bytes.ts';
import { openPlace, placeOfSource } from '../../ingest/sources/file-place.ts';
import { hashOpenFile } from '../../files/hash-file.ts';
import type { FrozenSource } from '../../ingest/plan/plan-line.ts';

/** SHA-256 of a source; null when it cannot be read or has changed since the run was created. */
export async function hashSource(source: FrozenSource, signal: AbortSignal): Promise<string | null> {
  try {
    const handle = await openPlace(placeOfSource(source));
    try {
      if (!isAsFrozen(await handle.stat(), source)) return null;
      const { sha256 } = await hashOpenFile(handle, { signal });
      return isAsFrozen(await handle.stat(), source) ? sha256 : null;
    } finally {
      await handle.close();
    }
  } catch {
    signal.throwIfAborted();
    return null;
  }
}
