import { lstat, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { syncDirectory } from '../../files/durable-write.ts';
import { listFolder } from '../../files/folders.ts';
import { epochOf, epochOfTemporary, isOccasional, REVEALS_FILE, RUN_FILES } from '../../files/run-files.ts';
import { listEpochs } from '../../record/log/epochs.ts';
import { readManifest, type Manifest } from '../../record/manifest/manifest.ts';
import { isKeptByPurge, readPurged, removePurged, writePurged, type Purged } from '../../record/purged.ts';
import { readFeeder } from '../control/feed-claim.ts';
import { assertOwnRun } from '../trust/own-run.ts';
import { readHold } from './hold.ts';

/** Folders of a run directory; every other entry is a file. */
const FOLDERS: ReadonlySet<string> = new Set([RUN_FILES.log, RUN_FILES.review, RUN_FILES.control]);
const OURS: ReadonlySet<string> = new Set<string>(Object.values(RUN_FILES));

/** The files of a run directory, by their relative paths. */
interface Leftovers {
  /** Files that a purge deletes. */
  readonly files: readonly string[];
  /** Files that we did not write. A purge leaves them. */
  readonly foreign: readonly string[];
}

/** Lists the files that a purge of this run deletes. The log comes first: all others can be made from it. */
export async function purgeableFiles(runDir: string): Promise<Leftovers> {
  const files: string[] = [];
  const foreign: string[] = [];
  for (const name of await namesIn(runDir, RUN_FILES.log)) {
    const path = `${RUN_FILES.log}/${name}`;
    if (epochOf(name) === null) foreign.push(path);
    else if (!isKeptByPurge(path)) files.push(path);
  }
  for (const name of await namesIn(runDir, RUN_FILES.review)) {
    if (name !== REVEALS_FILE) files.push(`${RUN_FILES.review}/${name}`);
  }
  for (const name of await listFolder(runDir)) {
    if (FOLDERS.has(name) || isKeptByPurge(name)) continue;
    const isOurs = OURS.has(name) || isOccasional(name) || epochOfTemporary(name) !== null;
    (isOurs ? files : foreign).push(name);
  }
  return { files, foreign };
}

async function namesIn(runDir: string, folder: string): Promise<string[]> {
  try {
    return (await listFolder(join(runDir, folder))).sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Author and time of a purge. */
export interface PurgeBy {
  /** The user, or the schedule. */
  readonly by: string;
  readonly now: Date;
}

/**
 * Deletes the files of a finished run that contain content or name single items; configuration, plan, chain of commits,
 * totals and manifest stay. Writes purged.json first: from then on nothing takes the run for a complete one, and no
 * process begins to work on it. Finishes a purge that was interrupted. Returns the reason why the run was left
 * unchanged, or null. The caller must have checked that the run is finished.
 */
export async function purgeRun(runDir: string, { by, now }: PurgeBy): Promise<string | null> {
  await assertOwnRun(runDir);
  const manifest = await readManifest(runDir);
  let purged = await readPurged(runDir);
  if (purged === null) {
    const { run, pass, chain_head } = manifest;
    purged = { schema: 1, run, at: now.toISOString(), by, pass, chain_head };
    await writePurged(runDir, purged);
  }
  // Only while nothing is deleted: a process that claims or holds the run writes first, then looks for purged.json.
  if (await isWhole(runDir, manifest)) {
    const reason = await whyNotNow(runDir, manifest, purged);
    if (reason !== null) {
      await removePurged(runDir);
      return reason;
    }
  }
  const { files } = await purgeableFiles(runDir);
  for (const path of files) await rm(join(runDir, path), { force: true });
  for (const folder of new Set(files.map((path) => path.split('/').slice(0, -1).join('/')))) {
    await syncDirectory(join(runDir, folder));
  }
  return null;
}

async function isWhole(runDir: string, { files }: Manifest): Promise<boolean> {
  for (const { path } of files) {
    const found = await lstat(join(runDir, path)).catch(() => null);
    if (found === null) return false;
  }
  return true;
}

/** Why a run with a complete record may not be purged now. */
async function whyNotNow(runDir: string, manifest: Manifest, purged: Purged): Promise<string | null> {
  const held = await whyHeld(runDir);
  if (held !== null) return held;
  if ((await readFeeder(runDir))?.alive === true) return 'a process works on it';
  const isLast = (await listEpochs(runDir)).at(-1) === manifest.epoch;
  return isLast && manifest.chain_head === purged.chain_head ? null : 'it was continued meanwhile';
}

/** Why a held run is not deleted; null for a run that is not held. */
export async function whyHeld(runDir: string): Promise<string | null> {
  const hold = await readHold(runDir);
  if (hold === null) return null;
  const { by, at, reason } = hold;
  return `held by ${by} since ${at.slice(0, 10)}${reason === null ? '' : `: ${reason}`}`;
}
