import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { systemPath } from '../../domain/file-path.ts';
import { RUN_FILES } from '../../files/run-files.ts';
import { readSources } from '../../ingest/sources/sources-file.ts';

/**
 * `file:` URLs of sources, by their path in the run. A path that is no text has none. Failure('internal') when the list
 * of sources is damaged.
 */
export async function sourceFiles(
  runDir: string,
  paths: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  if (paths.size === 0) return found;
  for await (const batch of readSources(join(runDir, RUN_FILES.sources), { signal })) {
    for (const { path, absolute } of batch) {
      if (!paths.has(path)) continue;
      const named = systemPath(absolute);
      if (typeof named === 'string') found.set(path, pathToFileURL(named).href);
      if (found.size === paths.size) return found;
    }
  }
  return found;
}
