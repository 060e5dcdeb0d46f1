import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { pathExists } from '../../files/folders.ts';
import { lineHash } from '../log/chain-line.ts';
import { lastLines } from '../log/last-lines.ts';
import { readManifest } from '../manifest/manifest.ts';
import { readRunFile } from '../read-run-file.ts';
import { RUN_FILES } from '../../files/run-files.ts';
import type { Summary } from './summary.ts';
import { SUMMARY } from './summary-schema.ts';
import { listEpochs } from '../log/epochs.ts';

/**
 * Reads summary.json of a finished run: its manifest exists, every file in it exists, and no later epoch was claimed.
 * Null while work is or may be left; `resume` recreates missing final files. Compares only sizes; `verify` checks
 * hashes.
 */
export async function finishedSummary(runDir: string): Promise<Summary | null> {
  try {
    const manifest = await readManifest(runDir);
    if (manifest.epoch !== (await listEpochs(runDir)).at(-1)) return null;
    for (const { path, bytes } of manifest.files) {
      if ((await lstat(join(runDir, path))).size < bytes) return null;
    }
    return SUMMARY.parse(JSON.parse((await readRunFile(runDir, RUN_FILES.summary)).toString()));
  } catch {
    return null;
  }
}

/**
 * Reads summary.json of a run that has a manifest and whose log ends with the line that the summary names. Cheaper than
 * `finishedSummary`, for lists of runs: it does not read the manifest, which grows with the corpus, and checks no other
 * file. Null for a run that is not finished, or if this cannot be determined so cheaply.
 */
export async function closedSummary(runDir: string): Promise<Summary | null> {
  try {
    const summary = SUMMARY.parse(JSON.parse((await readRunFile(runDir, RUN_FILES.summary)).toString()));
    const last = (await lastLines(runDir, (await listEpochs(runDir)).at(-1)!)).at(-1);
    const closed = last !== undefined && lineHash(last) === summary.chain_head;
    return closed && (await pathExists(join(runDir, RUN_FILES.manifestHash))) ? summary : null;
  } catch {
    return null;
  }
}
