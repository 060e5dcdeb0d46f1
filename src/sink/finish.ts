import { readdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Failure } from '../domain/failure.ts';
import type { OutcomeLine } from '../domain/outcome.ts';
import { isDiskFull } from '../ingest/disk-full.ts';
import { syncDirectory } from '../ingest/durable-write.ts';
import { readSources } from '../ingest/sources-file.ts';
import type { CorpusAccounts, EmptySources } from './corpus-accounts.ts';
import { keepEarlierManifests } from './earlier-manifests.ts';
import { FinalFile, type FileEntry, type FinalWriter } from './final-file.ts';
import { hashSource } from './hash-source.ts';
import { manifestHashLine, manifestText, type Manifest } from './manifest.ts';
import { OutcomeFiles } from './outcome-files.ts';
import { outlinePlan, type PlanOutline } from './plan-outline.ts';
import { hashRecordFiles } from './record-files.ts';
import { RUN_FILES, isFlaggedCsv } from './run-files.ts';
import { RunReading, isComplete } from './run-reading.ts';
import { makeSummary, summaryJson, type Summary } from './summary.ts';
import type { Counts } from './tally.ts';
import { supersededOr } from './verdict-log/epochs.ts';
import type { LogWriter } from './verdict-log/log-writer.ts';
import { damageOf, lostToDamage, readChain, type Chain } from './verdict-log/read-chain.ts';
import { workingSeconds } from './verdict-log/working-time.ts';

export interface FinishOptions {
  /** Most rows in one flagged.csv; default: what a spreadsheet takes. */
  readonly flaggedRows?: number;
}

/**
 * Ends a run whose shards are all committed: merges the log into the final files, writes summary and manifest, and
 * puts them in their place. A run that lacks a shard, or whose plan is not closed, is `incomplete`: its summary
 * says what there is, and nothing is written. It can be done again after a crash at any point.
 *
 * Commits must have been waited for. Throws Failure('superseded') when another process has claimed the run,
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
  /** Files in the making, in the order in which they are published. */
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
      throw new Failure('internal', 'the run can be finished only by its own epoch');
    const plan = await outlinePlan(join(runDir, RUN_FILES.plan), chain.commits, { signal });
    const parse = (text: string): OutcomeLine => JSON.parse(text) as OutcomeLine;
    const reading = await RunReading.open({ runDir, record, chain, plan, signal, parse });
    if (!isComplete(plan) || reading.accounts === null) {
      await reading.addUp();
      return this.#summary(
        'incomplete',
        chain,
        plan,
        { ...reading.tally.counts(), items: plan.items },
        {
          emptySources: reading.emptySources(),
          files: [],
        },
      );
    }
    const create = (name: string): Promise<FinalFile> => this.#create(name);
    try {
      const { formats } = record.config.output;
      const files = await OutcomeFiles.begin(create, formats, this.#options.flaggedRows);
      for await (const batch of reading.outcomes()) await files.add(batch);
      const entries: FileEntry[] = [];
      for (const file of this.#files) entries.push(await file.complete());
      const counts = reading.tally.counts();
      const names = [...entries.map(({ path }) => path), RUN_FILES.summary, RUN_FILES.manifest];
      const summary = this.#summary('finished', chain, plan, counts, {
        emptySources: reading.emptySources(),
        files: names,
      });
      entries.push(await this.#complete(RUN_FILES.summary, [summaryJson(summary)]));
      await this.#writeManifest(chain, plan, counts, reading.accounts, entries);
      await this.#publish(names);
      return summary;
    } finally {
      for (const file of this.#files) await file.discard();
    }
  }

  async #writeManifest(
    chain: Chain,
    plan: PlanOutline,
    counts: Counts,
    accounts: CorpusAccounts,
    finals: readonly FileEntry[],
  ): Promise<void> {
    const { runDir, record, epoch } = this.#log;
    const earlier = await keepEarlierManifests(this.#writer, plan.pass);
    const previous = earlier.at(-1);
    const manifest: Omit<Manifest, 'sources'> = {
      schema: 1,
      run: record.run,
      tool: record.tool,
      created_at: record.created_at,
      finished_at: new Date().toISOString(),
      pass: plan.pass,
      epoch,
      chain_head: chain.position.head,
      counts: {
        items: counts.items,
        verdicts: counts.verdicts,
        errors: counts.errors,
        corpora: accounts.accounts(),
      },
      damage: damageOf(chain),
      fingerprints: [...chain.fingerprints.values()],
      previous: previous === undefined ? null : { path: previous.path, sha256: previous.sha256 },
      files: [...(await hashRecordFiles(runDir, chain, plan.bytes, this.#signal)), ...earlier, ...finals],
    };
    const entry = await this.#complete(RUN_FILES.manifest, manifestText(manifest, this.#sources(accounts)));
    await this.#complete(RUN_FILES.manifestHash, [manifestHashLine(entry.sha256)]);
  }

  async *#sources(accounts: CorpusAccounts): AsyncGenerator<Manifest['sources'], void> {
    for await (const batch of readSources(join(this.#log.runDir, RUN_FILES.sources), {
      signal: this.#signal,
    })) {
      const sources: Manifest['sources'] = [];
      for (const source of batch) {
        const sha256 = accounts.fileHash(source.source) ?? (await hashSource(source, this.#signal));
        sources.push({ path: source.path, bytes: source.bytes, sha256 });
      }
      yield sources;
    }
  }

  async #create(name: string): Promise<FinalFile> {
    const file = await FinalFile.create(name, this.#writer);
    this.#files.push(file);
    return file;
  }

  /** Writes a file to be published later. */
  async #complete(name: string, parts: Iterable<string> | AsyncIterable<string>): Promise<FileEntry> {
    const file = await this.#create(name);
    for await (const part of parts) await file.write(part);
    return file.complete();
  }

  /**
   * Puts the files in their place. The manifest comes last: a run whose manifest is of its latest pass is finished,
   * and after a crash before that point it is finished again.
   */
  async #publish(names: readonly string[]): Promise<void> {
    const { runDir } = this.#log;
    await this.#log.assertCurrent();
    for (const name of await readdir(runDir)) {
      // Earlier passes may have flagged more items, in more files.
      if (isFlaggedCsv(name) && !names.includes(name)) await rm(join(runDir, name));
    }
    const isManifest = ({ name }: FinalFile): boolean => name === RUN_FILES.manifest;
    for (const file of this.#files) if (!isManifest(file)) await file.publish();
    await syncDirectory(runDir);
    await this.#files.find(isManifest)?.publish();
    await syncDirectory(runDir);
  }

  #summary(
    status: Summary['status'],
    chain: Chain,
    plan: PlanOutline,
    counts: Counts,
    rest: Pick<Summary, 'files'> & { readonly emptySources: EmptySources },
  ): Summary {
    return makeSummary({
      record: this.#log.record,
      dir: resolve(this.#log.runDir),
      status,
      counts,
      seconds: workingSeconds(chain.parts),
      pass: plan.pass,
      chainHead: chain.position.head,
      lostToDamage: lostToDamage(chain),
      ...rest,
    });
  }
}
