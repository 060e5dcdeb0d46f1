import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { openFile } from '../../files/open-file.ts';
import { readFully } from '../../files/read-fully.ts';
import { RUN_FILES, commitsName } from '../../files/run-files.ts';
import { lineHash, parseChainLine, type ChainPosition, type CommitLine } from './chain-line.ts';
import type { ShardCounts } from '../shard-tally.ts';
import type { ChainEnd } from './chain.ts';
import type { CommitTable } from './commit-table.ts';
import { listEpochs } from './epochs.ts';
import { readClaim } from './claim-path.ts';
import { isHole, readChain } from './read-chain.ts';

const CHUNK_BYTES = 256 * 1024;
const NEWLINE = 0x0a;
/** Max bytes read per poll; the next poll reads the rest. */
const MAX_BYTES = 64 * 1024 * 1024;
/** Poll interval while the log is being taken over, in milliseconds. */
const SETTLE_MS = 50;

/**
 * Follows a verdict log that another process writes. A line counts as committed by the writer's rule: no later epoch
 * existed after the line was read, so any later writer will see it.
 */
export class ChainTail {
  readonly #runDir: string;
  readonly #signal: AbortSignal;
  #commits: CommitTable;
  #position: ChainPosition;
  #endsBefore: ChainEnd | null;
  /** Bytes read of the current epoch's commits file. */
  #bytes: number;

  private constructor(runDir: string, signal: AbortSignal, read: WholeChain) {
    this.#runDir = runDir;
    this.#signal = signal;
    this.#commits = read.commits;
    this.#position = read.position;
    this.#endsBefore = read.endsBefore;
    this.#bytes = read.bytes;
  }

  /** Reads the chain, waiting for a claim that is being written. Failure('internal') when it fails verification. */
  static async open(runDir: string, signal: AbortSignal): Promise<ChainTail> {
    for (;;) {
      const highest = (await listEpochs(runDir)).at(-1) ?? 0;
      if (highest === 0 || (await readClaim(runDir, highest, signal)) !== null) {
        const read = await readWhole(runDir, signal);
        if (read.settled) return new ChainTail(runDir, signal, read);
      }
      await delay(SETTLE_MS, undefined, { signal });
    }
  }

  /** Like `open`, without waiting for the newest epoch's claim: its writer may have died before writing it. */
  static async openNow(runDir: string, signal: AbortSignal): Promise<ChainTail> {
    return new ChainTail(runDir, signal, await readWhole(runDir, signal));
  }

  /** Number of committed shards. */
  get shards(): number {
    return this.#commits.shards;
  }

  /** The first complete line that is not part of the chain; lines after it do not count. Null when there is none. */
  get endsBefore(): ChainEnd | null {
    return this.#endsBefore;
  }

  isCommitted(shard: number): boolean {
    return this.#commits.has(shard);
  }

  /** Sums over the committed shards of a pass. */
  counts(pass: number): ShardCounts {
    return this.#commits.counts(pass);
  }

  /** Verdicts by flagged category, over everything committed. */
  get byCategory(): Readonly<Record<string, number>> {
    return this.#commits.tally.counts().by_category;
  }

  /** Reads new commits; returns whether there were any. */
  async poll(): Promise<boolean> {
    const before = this.#commits.shards;
    const highest = (await listEpochs(this.#runDir)).at(-1) ?? 0;
    if (highest > this.#position.epoch) {
      // Before it writes its claim, a new writer checks everything committed, which may take minutes.
      if ((await readClaim(this.#runDir, highest, this.#signal)) === null) return false;
      const read = await readWhole(this.#runDir, this.#signal);
      if (!read.settled) return false;
      this.#commits = read.commits;
      this.#position = read.position;
      this.#endsBefore = read.endsBefore;
      this.#bytes = read.bytes;
    } else if (this.#position.epoch > 0) {
      await this.#readOn();
    }
    return this.#commits.shards !== before;
  }

  async #readOn(): Promise<void> {
    const { epoch } = this.#position;
    const lines = await completeLines(join(this.#runDir, RUN_FILES.log, commitsName(epoch)), this.#bytes);
    if (lines.length === 0) return;
    const commits: CommitLine[] = [];
    let endsBefore: ChainEnd | null = null;
    let { head } = this.#position;
    let bytes = 0;
    let taken = 0;
    for (const line of lines) {
      const parsed = parseChainLine(line);
      if (parsed === null || parsed.prev !== head) {
        endsBefore = isHole(line, this.#bytes + bytes)
          ? null
          : { epoch, line: this.#position.lines + taken + 1 };
        break;
      }
      head = lineHash(line);
      bytes += line.length + 1;
      taken++;
      if ('shard' in parsed) commits.push(parsed);
    }
    const overtaken = ((await listEpochs(this.#runDir)).at(-1) ?? 0) > epoch;
    if (overtaken) return;
    for (const commit of commits) this.#commits.add(commit);
    this.#bytes += bytes;
    this.#position = { epoch, lines: this.#position.lines + taken, head };
    this.#endsBefore = endsBefore;
  }
}

interface WholeChain {
  readonly commits: CommitTable;
  readonly position: ChainPosition;
  readonly endsBefore: ChainEnd | null;
  readonly bytes: number;
  /** False while the claim of a later epoch is not written yet. */
  readonly settled: boolean;
}

async function readWhole(runDir: string, signal: AbortSignal): Promise<WholeChain> {
  const { commits, position, parts, endsBefore } = await readChain(runDir, { signal });
  const highest = (await listEpochs(runDir)).at(-1) ?? 0;
  const bytes = parts.at(-1)?.bytes ?? 0;
  return { commits, position, endsBefore, bytes, settled: highest === position.epoch };
}

/** Reads the complete lines of a file from a byte offset, within the next `MAX_BYTES`. */
async function completeLines(path: string, from: number): Promise<Buffer[]> {
  const file = await openFile(path, 'refuse');
  try {
    const chunks: Buffer[] = [];
    for (let at = from; at - from < MAX_BYTES;) {
      const chunk = await readFully(file, Buffer.allocUnsafe(CHUNK_BYTES), at);
      chunks.push(chunk);
      at += chunk.length;
      if (chunk.length < CHUNK_BYTES) break;
    }
    const all = Buffer.concat(chunks);
    const lines: Buffer[] = [];
    let start = 0;
    for (let end = all.indexOf(NEWLINE); end !== -1; end = all.indexOf(NEWLINE, start)) {
      lines.push(all.subarray(start, end));
      start = end + 1;
    }
    return lines;
  } finally {
    await file.close();
  }
}
