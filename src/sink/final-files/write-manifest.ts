import { join } from 'node:path';
import { RUN_FILES, commitsName } from '../../files/run-files.ts';
import { hashFile } from '../../files/hash-file.ts';
import { readSources } from '../../ingest/sources/sources-file.ts';
import type { CorpusAccounts } from '../../record/corpus-accounts.ts';
import { previousManifest } from '../../record/manifest/earlier-manifests.ts';
import { keepEarlierManifests } from './keep-manifests.ts';
import type { FinalFile, FinalWriter } from './final-file.ts';
import { hashSource } from './hash-source.ts';
import { ListHash, filesHash } from '../../record/manifest/list-hash.ts';
import {
  manifestBegin,
  manifestEnd,
  manifestSources,
  type FileEntry,
  type Manifest,
} from '../../record/manifest/manifest.ts';
import type { PlanOutline } from '../../record/outcomes/plan-outline.ts';
import { hashRecordFiles } from './hash-record-files.ts';
import type { Counts } from '../../record/tally.ts';
import type { LogWriter } from '../verdict-log/log-writer.ts';
import { damageOf, type Chain } from '../../record/log/read-chain.ts';

export interface ManifestInput {
  readonly log: LogWriter;
  readonly writer: FinalWriter;
  readonly chain: Chain;
  readonly plan: PlanOutline;
  readonly counts: Counts;
  readonly accounts: CorpusAccounts;
  /** The files made from the outcomes. */
  readonly finals: readonly FileEntry[];
  readonly signal: AbortSignal;
}

/**
 * Writes the manifest of a pass in two steps, because it names the hash of the closing line, which holds hashes of what
 * the manifest lists: `close` writes all up to the files and adds the closing line to the log, `end` writes the rest.
 */
export class ManifestWriter {
  readonly #file: FinalFile;
  readonly #input: ManifestInput;
  #files: readonly FileEntry[] = [];
  #chainHead = '';

  constructor(file: FinalFile, input: ManifestInput) {
    this.#file = file;
    this.#input = input;
  }

  /** Adds the closing line; `dir` is the run directory as the summary names it. Gives the chain head. */
  async close(dir: string): Promise<string> {
    const { log, writer, chain, plan, counts, accounts, finals, signal } = this.#input;
    const { runDir, record, epoch } = log;
    const earlier = await keepEarlierManifests(writer, plan.pass);
    const at = new Date().toISOString();
    const { items, verdicts, errors } = counts;
    const head = manifestBegin({
      schema: 1,
      run: record.run,
      tool: record.tool,
      created_at: record.created_at,
      finished_at: at,
      pass: plan.pass,
      epoch,
      counts: { items, verdicts, errors, corpora: accounts.accounts() },
      damage: damageOf(chain),
      fingerprints: [...chain.fingerprints.values()],
      previous: previousManifest(earlier),
    });
    await this.#file.write(head);
    const sources = await this.#writeSources();
    const recordFiles = await hashRecordFiles(runDir, record, chain, plan.bytes, signal);
    this.#files = [...recordFiles, ...earlier, ...finals];
    const files = filesHash(this.#files, epoch);
    const end = await log.closePass({ closes: plan.pass, at, dir, sources, files });
    const own = `${RUN_FILES.log}/${commitsName(epoch)}`;
    const { bytes, sha256 } = await hashFile(join(runDir, own), { signal, bytes: end.bytes });
    const closed = { path: own, bytes, sha256 };
    this.#files = this.#files.map((file) => (file.path === own ? closed : file));
    this.#chainHead = end.head;
    return end.head;
  }

  /** Writes the rest, once the summary is there. */
  async end(summary: FileEntry): Promise<FileEntry> {
    await this.#file.write(manifestEnd({ files: [...this.#files, summary], chain_head: this.#chainHead }));
    return this.#file.complete();
  }

  /** Gives the hash of the list. */
  async #writeSources(): Promise<string> {
    const { log, accounts, signal } = this.#input;
    const hash = new ListHash();
    let first = 0;
    for await (const batch of readSources(join(log.runDir, RUN_FILES.sources), { signal })) {
      const sources: Manifest['sources'] = [];
      for (const source of batch) {
        const sha256 = accounts.fileHash(source.source) ?? (await hashSource(source, signal));
        sources.push({ path: source.path, bytes: source.bytes, sha256 });
      }
      await this.#file.write(manifestSources(sources, first));
      hash.add(sources);
      first += sources.length;
    }
    return hash.digest();
  }
}
