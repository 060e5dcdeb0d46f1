import { join } from 'node:path';
import type { FileEntry } from '../../record/manifest/manifest.ts';
import { hashFile } from '../../files/hash/hash-file.ts';
import { RUN_FILES, commitsName } from '../../files/run-files.ts';
import type { Chain } from '../../record/log/chain.ts';

/**
 * Manifest entries of run.json, the lists of sources and of skipped files, the plan and the log. Of the plan and of logs
 * of older epochs only the bytes that count are hashed: an overtaken writer may have appended to them.
 */
export async function hashRecordFiles(
  runDir: string,
  chain: Chain,
  planBytes: number,
  signal: AbortSignal,
): Promise<FileEntry[]> {
  const wanted: { path: string; bytes?: number }[] = [
    { path: RUN_FILES.run },
    { path: RUN_FILES.sources },
    { path: RUN_FILES.skipped },
    { path: RUN_FILES.plan, bytes: planBytes },
  ];
  for (const part of chain.parts) {
    wanted.push({ path: `${RUN_FILES.log}/${commitsName(part.epoch)}`, bytes: part.bytes });
    for (const [segment, bytes] of part.segments) wanted.push({ path: `${RUN_FILES.log}/${segment}`, bytes });
  }
  const entries: FileEntry[] = [];
  for (const { path, ...limit } of wanted) {
    const { bytes, sha256 } = await hashFile(join(runDir, path), { signal, ...limit });
    entries.push({ path, bytes, sha256 });
  }
  return entries;
}
