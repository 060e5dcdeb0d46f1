import { type KeyObject, sign } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type FlaggedBounds, makeTables } from '../../analysis/tables/make-tables.ts';
import type { RunConfig } from '../../config/run-config.ts';
import { Failure } from '../../domain/failure.ts';
import { isForeignCategory } from '../../domain/taxonomy.ts';
import { isDiskFull } from '../../files/disk-full.ts';
import { syncDirectory } from '../../files/durable-write.ts';
import { listFolder } from '../../files/folders.ts';
import { isOccasional, RUN_FILES } from '../../files/run-files.ts';
import { allEnded } from '../../flow/abortable.ts';
import type { Counts } from '../../record/counts.ts';
import { readChain } from '../../record/log/read-chain.ts';
import { workingSeconds } from '../../record/log/working-time.ts';
import { keyId, type ManifestSignature } from '../../record/manifest/manifest-signature.ts';
import { type FileEntry, manifestHashLine } from '../../record/manifest/manifest.ts';
import { LineFiles } from '../../record/outcomes/line-files.ts';
import { isComplete, outlinePlan } from '../../record/outcomes/plan-outline.ts';
import { runTotals } from '../../record/outcomes/run-totals.ts';
import { makeSummary, type Summary, summaryJson } from '../../record/summary/summary.ts';
import { trialCounts } from '../../record/summary/trial.ts';
import type { LogWriter } from '../verdict-log/log-writer.ts';
import { supersededOr } from '../verdict-log/take-epoch.ts';
import { FinalFile, type FinalWriter } from './final-file.ts';
import { writeManifest } from './write-manifest.ts';
import { writeSourceHashes } from './write-source-hashes.ts';

export interface FinishOptions {
  /** Default: the limits of a spreadsheet. */
  readonly flaggedBounds?: FlaggedBounds;
  /** Ed25519 private key to sign the manifest with; unsigned without one. */
  readonly signingKey?: KeyObject | null;
}

/**
 * Finishes a run whose shards are all committed: copies the committed lines into the final files, appends the closing
 * line to the log, writes summary and manifest, and renames all files into place. A run with a missing shard, or whose
 * plan is not closed, is `incomplete`: its summary counts the committed outcomes, and nothing is written. After a crash
 * at any point, this can be called again; a closing line without a manifest is then followed by another one.
 *
 * All commits must have resolved. Throws Failure('superseded') when another process has claimed the run,
 * Failure('internal') when the record does not add up, Failure('service') when the disk stays full.
 */
export async function finishRun(
  log: LogWriter,
  signal: AbortSignal,
  options: FinishOptions = {},
): Promise<Summary> {
  try {
    return await new Finish(log, signal, options).run();
  } catch (error) {
    if (!isDiskFull(error)) throw await supersededOr(error, log.runDir, log.epoch);
    throw new Failure('service', 'the disk is full: free some space, then resume the run', { cause: error });
  }
}

class Finish {
  readonly #log: LogWriter;
  readonly #options: FinishOptions;
  readonly #signal: AbortSignal;
  readonly #writer: FinalWriter;
  /** Files being written, in the order in which they are published. */
  readonly #files: FinalFile[] = [];

  constructor(log: LogWriter, signal: AbortSignal, options: FinishOptions) {
    this.#log = log;
    this.#options = options;
    this.#signal = signal;
    this.#writer = { runDir: log.runDir, epoch: log.epoch, diskFull: log.diskFull };
  }

  async run(): Promise<Summary> {
    const { runDir, record, epoch } = this.#log;
    const signal = this.#signal;
    await this.#log.assertCurrent();
    const chain = await readChain(runDir, { below: epoch + 1, signal });
    if (chain.position.epoch !== epoch)
      throw new Failure('internal', 'a run can only be finished by the newest epoch of its log');
    const plan = await outlinePlan(join(runDir, RUN_FILES.plan), chain.commits, { signal });
    const outcomes = { runDir, record, chain, plan, signal };
    const dir = resolve(runDir);
    const known = {
      record,
      dir,
      pass: plan.pass,
      trial: trialCounts(record.config.trial, plan),
      canaries: chain.canaries,
      fingerprints: chain.fingerprints,
    };
    if (!isComplete(plan)) {
      const lines = await LineFiles.begin(async () => ({ write: async () => undefined }));
      const { counts, emptySources } = await runTotals(outcomes, lines);
      return makeSummary({
        ...known,
        seconds: workingSeconds(chain.parts),
        status: 'incomplete',
        counts: { ...counts, items: plan.items },
        chainHead: chain.position.head,
        emptySources,
        files: [],
        rows: {},
      });
    }
    try {
      const lines = await LineFiles.begin((name) => this.#create(name));
      const totals = await runTotals(outcomes, lines);
      const hashes = await this.#create(RUN_FILES.sourceHashes);
      const [sources, rows] = await allEnded(
        writeSourceHashes(hashes, this.#log, totals, signal),
        this.#makeTables(record.config, totals.counts),
      );
      const finals: FileEntry[] = [];
      for (const file of this.#files) finals.push(await file.complete());
      const names = [...finals.map(({ path }) => path), RUN_FILES.summary, RUN_FILES.manifest];

      const manifest = await writeManifest(await this.#create(RUN_FILES.manifest), {
        log: this.#log,
        writer: this.#writer,
        chain,
        plan,
        totals,
        sources,
        finals,
        dir,
        rows,
        signal,
      });
      const summary = makeSummary({
        ...known,
        seconds: workingSeconds([
          ...chain.parts.slice(0, -1),
          { ...chain.parts.at(-1)!, workedMs: manifest.closedMs },
        ]),
        status: 'finished',
        counts: totals.counts,
        chainHead: manifest.chainHead,
        emptySources: totals.emptySources,
        files: names,
        rows: { ...lines.rows, ...rows },
      });
      const entry = await manifest.complete(await this.#complete(RUN_FILES.summary, summaryJson(summary)));
      const hashLine = manifestHashLine(entry.sha256);
      await this.#complete(RUN_FILES.manifestHash, hashLine);
      const { signingKey } = this.#options;
      if (signingKey) await this.#complete(RUN_FILES.manifestSignature, signatureText(hashLine, signingKey));
      await this.#publish(names);
      return summary;
    } finally {
      for (const file of this.#files) await file.discard();
    }
  }

  /** Makes the tables from verdicts.jsonl. Returns the number of rows of each. */
  async #makeTables(config: RunConfig, counts: Counts): Promise<Summary['rows']> {
    const verdicts = this.#files.find(({ name }) => name === RUN_FILES.verdicts)!;
    await verdicts.complete();
    return makeTables({
      config,
      foreign: Object.keys(counts.foreign_scored ?? {}).filter(isForeignCategory),
      verdicts: verdicts.temporary,
      spill: join(this.#log.runDir, RUN_FILES.control, 'spilled'),
      create: (name) => this.#create(name),
      bounds: this.#options.flaggedBounds,
      signal: this.#signal,
    });
  }

  async #create(name: string): Promise<FinalFile> {
    const file = await FinalFile.create(name, this.#writer);
    this.#files.push(file);
    return file;
  }

  /** Writes a file that is published later. */
  async #complete(name: string, text: string): Promise<FileEntry> {
    const file = await this.#create(name);
    await file.write(text);
    return file.complete();
  }

  /**
   * Renames the files into place, the manifest last: a run is finished once the manifest is that of the latest pass.
   * After a crash before that, the run is finished again.
   */
  async #publish(names: readonly string[]): Promise<void> {
    const { runDir } = this.#log;
    await this.#log.assertCurrent();
    for (const name of await listFolder(runDir)) {
      // Earlier passes may have written more files, such as a second flagged.csv.
      if (isOccasional(name) && !names.includes(name)) await rm(join(runDir, name));
    }
    // The signature and the report of an earlier pass must not stay next to the manifest of this one.
    await rm(join(runDir, RUN_FILES.manifestSignature), { force: true });
    await rm(join(runDir, RUN_FILES.report), { force: true });
    const isManifest = ({ name }: FinalFile): boolean => name === RUN_FILES.manifest;
    for (const file of this.#files) if (!isManifest(file)) await file.publish();
    await syncDirectory(runDir);
    await this.#files.find(isManifest)?.publish();
    await syncDirectory(runDir);
  }
}

/** Content of manifest.sig: a signature of `hashLine`, the text of manifest.sha256, with an Ed25519 private key. */
function signatureText(hashLine: string, key: KeyObject): string {
  const value: ManifestSignature = {
    schema: 1,
    algorithm: 'ed25519',
    key_id: keyId(key),
    signed: RUN_FILES.manifestHash,
    signature: sign(null, Buffer.from(hashLine), key).toString('base64'),
  };
  return `${JSON.stringify(value)}\n`;
}
