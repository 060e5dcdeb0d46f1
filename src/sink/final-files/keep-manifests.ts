import { createHash } from 'node:crypto';
import { z } from 'zod';
import { Failure } from '../../domain/failure.ts';
import { listFolder } from '../../files/folders.ts';
import { RUN_FILES, manifestOfPass, passOfManifest } from '../../files/run-files.ts';
import type { FileEntry } from '../../record/manifest/manifest.ts';
import { readRunFile, readRunFileIfThere } from '../../record/read-run-file.ts';
import { FinalFile, type FinalWriter } from './final-file.ts';

const PASS = z.looseObject({ pass: z.int().min(1) });

/**
 * Keeps the manifest of the previous pass as `manifest.<pass>.json`, before a new one replaces it. Returns the
 * manifests of all earlier passes, oldest first. Idempotent.
 */
export async function keepEarlierManifests(writer: FinalWriter, pass: number): Promise<FileEntry[]> {
  const { runDir } = writer;
  const current = await readRunFileIfThere(runDir, RUN_FILES.manifest);
  if (current !== null) {
    const earlier = passOf(current);
    if (earlier < pass) {
      const kept = await FinalFile.create(manifestOfPass(earlier), writer);
      try {
        await kept.write([current]);
        await kept.complete();
        await kept.publish();
      } finally {
        await kept.discard();
      }
    }
  }
  const passes = (await listFolder(runDir))
    .map(passOfManifest)
    .filter((kept) => kept !== null)
    .filter((kept) => kept < pass);
  const entries: FileEntry[] = [];
  for (const kept of passes.sort((a, b) => a - b)) {
    const path = manifestOfPass(kept);
    const bytes = await readRunFile(runDir, path);
    entries.push({ path, bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') });
  }
  return entries;
}

function passOf(manifest: Buffer): number {
  try {
    return PASS.parse(JSON.parse(manifest.toString())).pass;
  } catch (cause) {
    throw new Failure(
      'internal',
      `${RUN_FILES.manifest} is damaged and cannot be kept as the manifest of an earlier pass`,
      {
        cause,
      },
    );
  }
}
