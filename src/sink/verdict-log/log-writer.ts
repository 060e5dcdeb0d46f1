import { loadDuckDB } from '../../analysis/duckdb.ts';
import type { FileHandle } from 'node:fs/promises';
import type { RunRecord } from '../../config/run-config.ts';
import { checkKey, type CanaryCheck } from '../../domain/canary/canary-check.ts';
import { Failure } from '../../domain/failure.ts';
import { RESTRICTING, type Restriction } from '../../domain/restriction/restriction.ts';
import type { ShardResult } from '../../domain/shard.ts';
import { isDiskFull, retryWhileDiskFull, type DiskFullPolicy } from '../../files/disk-full.ts';
import { GroupCommit } from '../../files/group-commit.ts';
import { writeAt } from '../../files/durable-write.ts';
import {
  encodeChainLine,
  lineHash,
  type ChainLine,
  type ClosingLine,
  type CommitLine,
} from '../../record/log/chain-line.ts';
import type { ShardCounts, ShardTally } from '../../record/shard-tally.ts';
import type { CommitTable } from '../../record/log/commit-table.ts';
import { RESTRICTED_LIST } from '../../files/run-files.ts';
import { RestrictedList } from '../../record/restricted/restricted-list.ts';
import { TextBuffer } from '../../files/text-buffer.ts';
import { encodeShard, type EncodedShard } from './encode-shard.ts';
import { assertHighestEpoch } from './take-epoch.ts';
import type { Chain } from '../../record/log/chain.ts';
import { SegmentWriter, type Placement } from './segment-writer.ts';

interface LogWriterInput {
  readonly runDir: string;
  readonly record: RunRecord;
  readonly epoch: number;
  /** The chain that the epoch continues. The writer takes over its commit table. */
  readonly chain: Chain;
  /** The epoch's commits file, which holds its claim. The writer closes it. */
  readonly commits: FileHandle;
  readonly end: ChainEnd;
  readonly diskFull: DiskFullPolicy;
  readonly segmentBytes: number;
}

/** Name of the log in messages. */
const LOG = 'the verdict log';
/** Initial buffer size: enough for most shards. */
const LIKELY_BYTES = 256 * 1024;
/** Maximum number of concurrent commits. */
const MAX_BUFFERS = 16;

/** The end of the epoch's commits file. */
interface ChainEnd {
  readonly bytes: number;
  readonly head: string;
}

interface Entry {
  readonly result: ShardResult;
  readonly encoded: EncodedShard;
}

/** The only writer of a run's verdict log until a later epoch is claimed. Created by `claimLog`. */
export class LogWriter {
  readonly runDir: string;
  readonly record: RunRecord;
  readonly epoch: number;
  readonly diskFull: DiskFullPolicy;
  readonly #commits: FileHandle;
  readonly #segments: SegmentWriter;
  /** Read before the first restricted content is added. */
  readonly #restricted: RestrictedList;
  readonly #table: CommitTable;
  readonly #fingerprints: Set<string>;
  /** Keys of the canary checks in the log. */
  readonly #canaries: Set<string>;
  readonly #group: GroupCommit<Entry>;
  readonly #underWay = new Map<number, Promise<ShardTally>>();
  /** Reused: allocating a buffer per shard costs more than writing it. */
  readonly #buffers: TextBuffer[] = [];
  #end: ChainEnd;
  readonly #begun = performance.now();
  #closing: Promise<void> | null = null;
  #duckdb: Promise<unknown> | null = null;

  constructor(input: LogWriterInput) {
    this.runDir = input.runDir;
    this.record = input.record;
    this.epoch = input.epoch;
    this.diskFull = input.diskFull;
    this.#commits = input.commits;
    this.#segments = new SegmentWriter(input.runDir, input.epoch, input.segmentBytes);
    this.#restricted = RestrictedList.beside(input.runDir);
    this.#table = input.chain.commits;
    this.#fingerprints = new Set(input.chain.fingerprints.keys());
    this.#canaries = new Set(input.chain.canaries.map(checkKey));
    this.#end = input.end;
    this.#group = new GroupCommit(this.#flush);
  }

  /** Hash of the last line of the chain. */
  get head(): string {
    return this.#end.head;
  }

  /** Number of committed shards, of all passes. */
  get committed(): number {
    return this.#table.shards;
  }

  isCommitted(shard: number): boolean {
    return this.#table.has(shard);
  }

  /** Sums over the committed shards of a pass, including those of earlier epochs. */
  counts(pass: number): ShardCounts {
    return this.#table.counts(pass);
  }

  /** Throws Failure('superseded') once another process has claimed the run. */
  assertCurrent(): Promise<void> {
    return assertHighestEpoch(this.runDir, this.epoch);
  }

  /**
   * Commits a shard: resolves once its outcomes are on disk and in the chain, and no later epoch was claimed by then. A
   * shard that is already committed is left unchanged; a second call for one in flight waits for it. Concurrent commits
   * share their syncs; callers bound how many wait. Resolves to the sums of the shard, or to null when another call
   * committed it.
   *
   * Rejects with Failure('superseded') once a later epoch was claimed, Failure('service') when the disk stays full,
   * Failure('internal') when the result does not fit its shard or the log cannot be written. After a failed write,
   * every commit fails.
   */
  async commit(result: ShardResult): Promise<ShardTally | null> {
    const { shard } = result.shard;
    if (this.#table.has(shard)) return null;
    const underWay = this.#underWay.get(shard);
    if (underWay !== undefined) return underWay.then(() => null);
    // Needed for finishing: it loads while a guard judges the next shards. A failure is reported then.
    this.#duckdb ??= loadDuckDB().catch(() => undefined);
    const text = this.#buffers.pop() ?? new TextBuffer(LIKELY_BYTES);
    const done = this.#write(result, text).finally(() => {
      this.#underWay.delete(shard);
      this.#keep(text);
    });
    this.#underWay.set(shard, done);
    return done;
  }

  /**
   * Appends the canary checks that the log does not have yet. All commits must have resolved. Rejects as `commit` does.
   */
  async commitChecks(checks: readonly CanaryCheck[]): Promise<void> {
    const { text, head, canaries } = this.#chainLines([], [], checks);
    if (text === '') return;
    try {
      await this.#append(text, head);
    } catch (error) {
      throw this.#unwritable(error);
    }
    for (const key of canaries) this.#canaries.add(key);
  }

  /**
   * Appends the closing line of a pass, all of whose commits must have resolved. Once it is on disk, resolves with the
   * end of the chain and the time in the line. Rejects as `commit` does.
   */
  async closePass(closing: Omit<ClosingLine, 'ms' | 'prev'>): Promise<ChainEnd & Pick<ClosingLine, 'ms'>> {
    const ms = this.#elapsedMs();
    const line = encodeChainLine({ ...closing, ms, prev: this.#end.head });
    try {
      await this.#append(`${line}\n`, lineHash(line));
    } catch (error) {
      throw this.#unwritable(error);
    }
    return { ...this.#end, ms };
  }

  #elapsedMs(): number {
    return Math.round(performance.now() - this.#begun);
  }

  async #write(result: ShardResult, text: TextBuffer): Promise<ShardTally> {
    const { run, config } = this.record;
    if (config.output.includeContent) await this.#restricted.read(this.diskFull.signal);
    const isRestricted = (sha256: string): boolean =>
      this.#restricted.by(sha256, { run, isFound: () => true }) !== null;
    const encoded = encodeShard(run, config, result, new Date().toISOString(), text, isRestricted);
    await this.#group.add({ result, encoded });
    return encoded.tally;
  }

  /** Makes restrictions known to every other run of the folder before the outcomes are written. */
  async #restrict(entries: readonly Entry[]): Promise<void> {
    for (const by of Object.keys(RESTRICTING) as Restriction[]) {
      const contents = entries.flatMap(({ encoded }) => encoded.restricted.get(by) ?? []);
      if (contents.length === 0) continue;
      const add = (): Promise<void> =>
        this.#restricted.addJudged(by, contents).catch((error: unknown) => {
          throw error instanceof Failure && isDiskFull(error.cause) ? error.cause : error;
        });
      try {
        await retryWhileDiskFull(RESTRICTED_LIST, add, this.diskFull);
      } catch (error) {
        throw this.#unwritable(error, RESTRICTED_LIST);
      }
    }
  }

  #keep(text: TextBuffer): void {
    text.clear();
    if (this.#buffers.length < MAX_BUFFERS) this.#buffers.push(text);
  }

  /** Writes waiting commits, then closes the files. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= (async () => {
      await this.#group.close();
      await this.#segments.close();
      await this.#commits.close();
    })();
    return this.#closing;
  }

  readonly #flush = async (entries: readonly Entry[]): Promise<void> => {
    await this.#restrict(entries);
    try {
      const group = entries.map(({ encoded }) => encoded.bytes);
      // Nobody reads these before their commit lines are appended, which check the epoch.
      const write = (): Promise<Placement[]> =>
        this.#segments.write(group).catch((error: unknown) => this.#failed(error));
      const placements = await retryWhileDiskFull(LOG, write, this.diskFull);
      const { text, head, commits, fingerprints, canaries } = this.#chainLines(entries, placements);
      await this.#append(text, head);
      for (const commit of commits) this.#table.add(commit);
      for (const id of fingerprints) this.#fingerprints.add(id);
      for (const key of canaries) this.#canaries.add(key);
    } catch (error) {
      throw this.#unwritable(error);
    }
  };

  /** Appends complete lines to the commits file and syncs it. */
  async #append(text: string, head: string): Promise<void> {
    const bytes = Buffer.from(text);
    const write = (): Promise<void> =>
      writeAt(this.#commits, bytes, this.#end.bytes)
        .then(() => this.#commits.datasync())
        .catch((error: unknown) => this.#failed(error));
    await retryWhileDiskFull(LOG, write, this.diskFull);
    // A new writer reads the chain after it took its epoch: if no later epoch is taken yet, it will see these lines.
    // Otherwise they are void, because its claim names the position it continues from.
    await this.assertCurrent();
    this.#end = { bytes: this.#end.bytes + bytes.length, head };
  }

  /**
   * Rejects with the error of a failed write, or with Failure('superseded'), since waiting for room is then pointless.
   */
  async #failed(error: unknown): Promise<never> {
    await this.assertCurrent();
    throw error;
  }

  #unwritable(error: unknown, file = LOG): unknown {
    if (error instanceof Failure || this.diskFull.signal.aborted) return error;
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    return new Failure('internal', `${file} cannot be written (${code})`, { cause: error });
  }

  /** The chain lines that commit a group, followed by its later checks. */
  #chainLines(
    entries: readonly Entry[],
    placements: readonly Placement[],
    laterChecks: readonly CanaryCheck[] = [],
  ): {
    text: string;
    head: string;
    commits: CommitLine[];
    fingerprints: Set<string>;
    canaries: Set<string>;
  } {
    const at = new Date().toISOString();
    const ms = this.#elapsedMs();
    const commits: CommitLine[] = [];
    const fingerprints = new Set<string>();
    const canaries = new Set<string>();
    let { head } = this.#end;
    let text = '';
    const add = (value: ChainLine): void => {
      const line = encodeChainLine(value);
      text += `${line}\n`;
      head = lineHash(line);
    };
    const addChecks = (checks: readonly CanaryCheck[]): void => {
      for (const check of checks) {
        const key = checkKey(check);
        if (this.#canaries.has(key) || canaries.has(key)) continue;
        canaries.add(key);
        add({ canaries: check, prev: head });
      }
    };
    for (const [index, { result, encoded }] of entries.entries()) {
      for (const { id, artifacts } of result.fingerprints) {
        if (this.#fingerprints.has(id) || fingerprints.has(id)) continue;
        fingerprints.add(id);
        add({ fingerprint: { id, artifacts }, prev: head });
      }
      addChecks(result.canaries ?? []);
      const { segment, offset } = placements[index]!;
      const commit: CommitLine = {
        shard: result.shard.shard,
        pass: result.shard.pass,
        segment,
        offset,
        length: encoded.bytes.length,
        sha256: encoded.sha256,
        tally: encoded.tally,
        at,
        ms,
        prev: head,
      };
      commits.push(commit);
      add(commit);
    }
    addChecks(laterChecks);
    return { text, head, commits, fingerprints, canaries };
  }
}
