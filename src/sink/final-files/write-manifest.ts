import { join } from 'node:path';
import { hashFile } from '../../files/hash-file.ts';
import { commitsName, RUN_FILES } from '../../files/run-files.ts';
import type { Chain } from '../../record/log/chain.ts';
import { type FileEntry, filesHash, renderManifest } from '../../record/manifest/manifest.ts';
import type { PlanOutline } from '../../record/outcomes/plan-outline.ts';
import type { RunTotals } from '../../record/outcomes/run-totals.ts';
import type { LogWriter } from '../verdict-log/log-writer.ts';
import type { FinalFile, FinalWriter } from './final-file.ts';
import { keepEarlierManifests } from './keep-manifests.ts';

interface ManifestInput {
  readonly log: LogWriter;
  readonly writer: FinalWriter;
  readonly chain: Chain;
  readonly plan: PlanOutline;
  readonly totals: RunTotals;
  /** Number of sources. */
  readonly sources: number;
  /** The other final files. */
  readonly finals: readonly FileEntry[];
  /** The run directory as the summary names it. */
  readonly dir: string;
  /** Row counts of the tables, by name. */
  readonly rows: Readonly<Record<string, number>>;
  readonly signal: AbortSignal;
}

/** A manifest whose pass is closed: its listed files are hashed, and the closing line is in the log. */
interface ClosedManifest {
  readonly chainHead: string;
  /** Time of the closing line, see ClosingLine. */
  readonly closedMs: number;
  /** Writes the rest. The summary names the chain head, so it is written after the closing line. */
  readonly complete: (summary: FileEntry) => Promise<FileEntry>;
}

/**
 * Closes a pass: adds the closing line to the log, which holds the hash of the manifest's list of files. The manifest
 * names the hash of that line.
 */
export async function writeManifest(file: FinalFile, input: ManifestInput): Promise<ClosedManifest> {
  const { log, writer, chain, plan, totals, sources, finals, dir, rows, signal } = input;
  const { runDir, record, epoch } = log;
  const earlier = await keepEarlierManifests(writer, plan.pass);
  const at = new Date().toISOString();
  const recordFiles = await hashRecordFiles(runDir, chain, plan.bytes, signal);
  const listed = [...recordFiles, ...earlier, ...finals];
  const files = filesHash(listed, epoch);
  const end = await log.closePass({ closes: plan.pass, at, dir, rows, files });
  const own = `${RUN_FILES.log}/${commitsName(epoch)}`;
  const { bytes, sha256 } = await hashFile(join(runDir, own), { signal, bytes: end.bytes });
  const closed = listed.map((entry) => (entry.path === own ? { path: own, bytes, sha256 } : entry));
  return {
    chainHead: end.head,
    closedMs: end.ms,
    complete: async (summary) => {
      const closing = { at, epoch, head: end.head };
      const text = renderManifest({ record, chain, plan, totals, sources, closing }, [...closed, summary]);
      await file.write(text);
      return file.complete();
    },
  };
}

/**
 * Manifest entries of run.json, the lists of sources and of skipped files, the plan and the log. For the plan and the
 * logs of older epochs, only the bytes that count are hashed: an overtaken writer may have appended to them.
 */
async function hashRecordFiles(
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
