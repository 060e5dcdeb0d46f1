import { createHash } from 'node:crypto';
import { RUN_FILES, commitsName, epochOf, epochOfCommits } from '../../files/run-files.ts';
import { readRunFile } from '../read-run-file.ts';
import { formatPlace, type Chain, type ChainEnd, type ChainPart, type Closing } from './chain.ts';
import {
  type ClaimLine,
  lineHash,
  parseChainLine,
  type ChainLine,
  type ChainPosition,
  type CommitLine,
} from './chain-line.ts';
import { claimPath, doesNotContinue } from './claim-path.ts';
import { join } from 'node:path';
import { Failure } from '../../domain/failure.ts';
import type { CanaryCheck } from '../../domain/canary/canary-check.ts';
import type { Fingerprint } from '../../domain/fingerprint.ts';
import { plural } from '../../domain/text/plural.ts';
import { readRecordLines } from '../../files/record-lines.ts';
import { CommitTable } from './commit-table.ts';
import { RangeReader } from './committed-range.ts';

interface ReadChainOptions {
  readonly signal: AbortSignal;
  /** Ignore this epoch and later ones. */
  readonly below?: number;
  /** Check that the segments hold the bytes of every commit. */
  readonly checkBytes?: boolean;
  /**
   * Number of planned shards; a commit of any other shard fails the walk. Bounds the memory that a hostile log can use.
   */
  readonly plannedShards?: number;
}

/**
 * Reads the verdict log of a run: the chain up to the highest epoch whose claim is complete. Lines of older epochs
 * after the point where the next one took over are void, and the newest epoch may end in a torn line.
 * Failure('internal') names file and line when a line that others build on fails verification.
 */
export async function readChain(runDir: string, options: ReadChainOptions): Promise<Chain> {
  const genesis = createHash('sha256')
    .update(await readRunFile(runDir, RUN_FILES.run))
    .digest('hex');
  const path = await claimPath(runDir, options.below ?? Number.POSITIVE_INFINITY, options.signal);
  const walk = new ChainWalk(runDir, genesis, options);
  try {
    for (const [index, claim] of path.entries()) await walk.take(claim, path[index + 1]?.continues ?? null);
  } finally {
    await walk.close();
  }
  const { position, parts, commits, fingerprints, canaries, closings, endsBefore } = walk;
  return { position, parts, commits, fingerprints, canaries, closings, endsBefore };
}

/** Follows the chain epoch by epoch and collects the contents of its lines. Must be closed. */
class ChainWalk {
  readonly parts: ChainPart[] = [];
  readonly commits = new CommitTable();
  readonly fingerprints = new Map<string, Fingerprint>();
  readonly canaries: CanaryCheck[] = [];
  readonly closings: Closing[] = [];
  position: ChainPosition;
  endsBefore: ChainEnd | null = null;
  readonly #runDir: string;
  readonly #options: ReadChainOptions;
  readonly #ranges: RangeReader;
  /** Whether the newest segment ends before the bytes of a commit. */
  #isCutOff = false;

  constructor(runDir: string, genesis: string, options: ReadChainOptions) {
    this.#runDir = runDir;
    this.#options = options;
    this.#ranges = new RangeReader(runDir);
    this.position = { epoch: 0, lines: 0, head: genesis };
  }

  /**
   * Reads the epoch of the next claim on the path. `until` is where the next epoch took over: every line before it must
   * verify; null for the newest epoch. Failure('internal') names the first line that fails verification.
   */
  async take(claim: ClaimLine, until: ChainPosition | null): Promise<void> {
    const { signal } = this.#options;
    const { claim: epoch, continues } = claim;
    const at = this.position;
    if (continues.epoch !== at.epoch || continues.lines !== at.lines || continues.head !== at.head) {
      throw doesNotContinue(claim);
    }
    const file = commitsName(epoch);
    const limit = until?.lines ?? Number.POSITIVE_INFINITY;
    const work: EpochWork = { epoch, isNewest: until === null, segments: new Map(), workedMs: null };
    let lines = 0;
    let bytes = 0;
    let head = at.head;
    reading: for await (const batch of readRecordLines(join(this.#runDir, RUN_FILES.log, file), { signal })) {
      for (const line of batch) {
        if (lines === limit) break reading;
        const parsed = lines > 0 ? parseChainLine(line) : null;
        if (lines > 0 && !(await this.#takeLine(parsed, { epoch, line: lines + 1, head }, work))) {
          const end = { epoch, line: lines + 1 };
          if (until !== null) throw doesNotFollow(end);
          this.endsBefore = isHole(line, bytes) || this.#isCutOff ? null : end;
          break reading;
        }
        head = lineHash(line);
        lines++;
        if (parsed !== null && 'closes' in parsed) {
          this.closings.push({ ...parsed, position: { epoch, lines, head } });
        }
        bytes += line.length + 1;
      }
    }
    if (until !== null && lines < limit) {
      throw new Failure(
        'internal',
        `log/${file} has ${lines} ${plural(lines, 'line')}, but had ${limit} when the run was continued`,
      );
    }
    const times = { begunAt: claim.since ?? claim.at, claimedAt: claim.at, workedMs: work.workedMs };
    this.parts.push({ epoch, lines, bytes, ...times, segments: work.segments });
    this.position = { epoch, lines, head };
  }

  async close(): Promise<void> {
    await this.#ranges.close();
  }

  /** Reads one line after the claim; false when it is not part of the chain. */
  async #takeLine(
    line: ChainLine | null,
    at: ChainEnd & { readonly head: string },
    work: EpochWork,
  ): Promise<boolean> {
    if (line === null || line.prev !== at.head) return false;
    if ('closes' in line) {
      work.workedMs = line.ms;
    } else if ('fingerprint' in line) {
      const { fingerprint } = line;
      if (!this.fingerprints.has(fingerprint.id)) this.fingerprints.set(fingerprint.id, fingerprint);
    } else if ('canaries' in line) {
      this.canaries.push(line.canaries);
    } else {
      return this.#takeCommit(line, at, work);
    }
    return true;
  }

  async #takeCommit(line: CommitLine, at: ChainEnd, work: EpochWork): Promise<boolean> {
    const { signal, plannedShards = Number.POSITIVE_INFINITY, checkBytes = false } = this.#options;
    if (!fits(line, work)) return false;
    if (line.shard >= plannedShards) {
      throw new Failure('internal', `${formatPlace(at)} commits shard ${line.shard}, which is not planned`);
    }
    signal.throwIfAborted();
    if (checkBytes) {
      // A disk that lost its cache may have this line but not the bytes written before it.
      this.#isCutOff = work.isNewest && (await this.#ranges.isCutOff(line));
      if (this.#isCutOff) return false;
      await this.#ranges.read(line);
    }
    work.segments.set(line.segment, line.offset + line.length);
    work.workedMs = line.ms;
    this.commits.add(line);
    return true;
  }
}

/** An epoch's commits: bytes per segment, and its working time. */
interface EpochWork {
  readonly epoch: number;
  readonly isNewest: boolean;
  readonly segments: Map<string, number>;
  workedMs: number | null;
}

/** An epoch commits ranges of its own segments only, without gaps: every byte of a segment is accounted for. */
function fits({ segment, offset }: CommitLine, { epoch, segments }: EpochWork): boolean {
  const own = epochOf(segment) === epoch && epochOfCommits(segment) === null;
  return own && offset === (segments.get(segment) ?? 0);
}

/** Smallest page of any file system; larger pages are multiples of it. */
const PAGE_BYTES = 4096;

/**
 * Whether a line has a hole: after a crash of the machine, a page of the last write may be missing while later pages
 * are on disk. Nothing from there on was acknowledged. `at` is the offset of the line in its file. The zeros of a
 * missing page end at a page boundary; any other zeros are damage, and acknowledged lines may follow them.
 */
export function isHole(line: Buffer, at: number): boolean {
  let zeros = line.indexOf(0);
  if (zeros < 0) return false;
  for (; zeros >= 0; zeros = line.indexOf(0, zeros)) {
    while (line[zeros] === 0) zeros++;
    if ((at + zeros) % PAGE_BYTES !== 0) return false;
  }
  return true;
}

/** The failure for a line that is not part of the chain although others build on it. */
export function doesNotFollow(end: ChainEnd): Failure {
  return new Failure('internal', `${formatPlace(end)} does not follow from the line before it`);
}
