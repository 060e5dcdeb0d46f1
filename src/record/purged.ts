import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { Failure } from '../domain/failure.ts';
import { quoteName } from '../domain/text/escape-text.ts';
import { replaceDurably, syncDirectory } from '../files/durable-write.ts';
import { passOfManifest, RUN_FILES, temporaryName } from '../files/run-files.ts';
import { readRunFileIfThere } from './read-run-file.ts';

const PURGED = z.strictObject({
  schema: z.literal(1),
  run: z.string(),
  /** ISO 8601, UTC. */
  at: z.string(),
  /** The user or the schedule. */
  by: z.string(),
  /** Pass and chain head of the purged record. */
  pass: z.int().min(1),
  chain_head: z.string().regex(/^[0-9a-f]{64}$/),
});

/** purged.json: written before the first file is deleted, so a run that lost files never looks complete. */
export type Purged = Readonly<z.output<typeof PURGED>>;

/** Files that a purge keeps: configuration, totals, manifest, and the plan, which has shards and hashes but no item. */
const KEPT: ReadonlySet<string> = new Set([
  RUN_FILES.run,
  RUN_FILES.plan,
  RUN_FILES.summary,
  RUN_FILES.manifest,
  RUN_FILES.manifestHash,
  RUN_FILES.manifestSignature,
  RUN_FILES.purged,
]);

/**
 * Whether a purge keeps a file of a run directory, given its relative path. In the log, only the chain of commits is
 * kept.
 */
export function isKeptByPurge(path: string): boolean {
  return KEPT.has(path) || passOfManifest(path) !== null || /^log\/\d+-commits\.jsonl$/.test(path);
}

/** Reads purged.json; null for a run that was not purged. Failure('internal') if the file is damaged. */
export async function readPurged(runDir: string): Promise<Purged | null> {
  const bytes = await readRunFileIfThere(runDir, RUN_FILES.purged);
  if (bytes === null) return null;
  try {
    return PURGED.parse(JSON.parse(bytes.toString()));
  } catch (cause) {
    throw new Failure('internal', `${RUN_FILES.purged} is damaged`, { cause });
  }
}

export async function writePurged(runDir: string, purged: Purged): Promise<void> {
  const temporary = join(runDir, temporaryName(RUN_FILES.purged, 0));
  await replaceDurably(join(runDir, RUN_FILES.purged), `${JSON.stringify(purged, null, 2)}\n`, temporary);
}

/** Undoes `writePurged` as long as nothing was deleted. */
export async function removePurged(runDir: string): Promise<void> {
  await rm(join(runDir, RUN_FILES.purged), { force: true });
  await syncDirectory(runDir);
}

/** Human-readable: one line that does not name the run. */
export function purgedText({ at, by }: Purged): string {
  return `purged on ${at.slice(0, 10)} by ${quoteName(by)}; the head and counts are kept`;
}

/** Failure('purged') for a run that was purged. Must be called before anything that needs its outcomes or sources. */
export async function assertNotPurged(runDir: string): Promise<void> {
  const purged = await readPurged(runDir);
  if (purged !== null)
    throw new Failure('purged', `${quoteName(basename(runDir))} was ${purgedText(purged)}`);
}
