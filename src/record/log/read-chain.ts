import { createHash } from 'node:crypto';
import { RUN_FILES, commitsName, epochOf, epochOfCommits } from '../../files/run-files.ts';
import { readRunFile } from '../read-run-file.ts';
import type { Chain, ChainEnd, ChainPart, Closing, DamagedCommit } from './chain.ts';
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
import { CommitTable, type CommittedRange } from './commit-table.ts';
import { RangeReader } from './committed-range.ts';

interface ReadChainOptions extends ChainWalkOptions {
  /** Leave out this epoch and later ones. */
  readonly below?: number;
}

/**
 * Reads the verdict log of a run: the chain up to the highest epoch whose claim is complete. Lines of older epochs
 * beyond the point where the next one took over are void, and the newest may end in a torn line.
 * Failure('internal') names file and line when a line that others build on fails verification.
 */
export async function readChain(runDir: string, options: ReadChainOptions): Promise<Chain> {
  const genesis = createHash('sha256')
    .update(await readRunFile(runDir, RUN_FILES.run))
    .digest('hex');
  const path = await claimPath(runDir, options.below ?? Number.POSITIVE_INFINITY, options.signal);
  const walk = new ChainWalk(runDir, genesis, options);
  try {
    const voided = voidedBy(path);
    for (const [index, claim] of path.entries()) {
      const until = path[index + 1]?.continues ?? null;
      const isVoid = (shard: number): boolean => (voided.get(shard) ?? -1) > index;
      await walk.take({ claim, until, isVoid });
    }
  } finally {
    await walk.close();
  }
  const { position, parts, commits, damaged, fingerprints, canaries, closings, endsBefore } = walk;
  const damages = path.flatMap(({ claim, damage }) =>
    damage === undefined ? [] : [{ ...damage, epoch: claim }],
  );
  return { position, parts, commits, damaged, damages, fingerprints, canaries, closings, endsBefore };
}

/** By shard, the index on the path of the last claim that found commits of it damaged: those before it are void. */
function voidedBy(path: readonly ClaimLine[]): ReadonlyMap<number, number> {
  const voided = new Map<number, number>();
  for (const [index, { damage }] of path.entries()) {
    for (const shard of damage?.shards ?? []) voided.set(shard, index);
  }
  return voided;
}

interface ChainWalkOptions {
  readonly signal: AbortSignal;
  /** Read at most this many lines of the newest epoch. */
  readonly newestLines?: number;
  /** Look for damaged commits: of shards that are not planned, or whose bytes are not in the segments. */
  readonly check?: { readonly plannedShards: number };
  /** Number of planned shards; a commit of any other shard fails the walk. Bounds the memory that a hostile log can use. */
  readonly plannedShards?: number;
}

/** A claim on the path, and the epoch after it. */
interface Step {
  readonly claim: ClaimLine;
  /** Where the next epoch took over: every line up to there has to hold. Null for the newest epoch. */
  readonly until: ChainPosition | null;
  /** Whether a later claim voids the commits of a shard. */
  readonly isVoid: (shard: number) => boolean;
}

/** Follows the chain epoch by epoch and collects the contents of its lines. Must be closed. */
class ChainWalk {
  readonly parts: ChainPart[] = [];
  readonly commits = new CommitTable();
  readonly damaged: DamagedCommit[] = [];
  readonly fingerprints = new Map<string, Fingerprint>();
  readonly canaries: CanaryCheck[] = [];
  readonly closings: Closing[] = [];
  position: ChainPosition;
  endsBefore: ChainEnd | null = null;
  readonly #runDir: string;
  readonly #options: ChainWalkOptions;
  readonly #ranges: RangeReader;
  readonly #damagedShards = new Set<number>();

  constructor(runDir: string, genesis: string, options: ChainWalkOptions) {
    this.#runDir = runDir;
    this.#options = options;
    this.#ranges = new RangeReader(runDir);
    this.position = { epoch: 0, lines: 0, head: genesis };
  }

  /** Takes the next epoch on the path. Failure('internal') names the first line that fails verification. */
  async take(step: Step): Promise<void> {
    const { claim, until, isVoid } = step;
    const { newestLines, plannedShards: planned = Number.POSITIVE_INFINITY, signal } = this.#options;
    const epoch = claim.claim;
    const { continues } = claim;
    const at = this.position;
    if (continues.epoch !== at.epoch || continues.lines !== at.lines || continues.head !== at.head) {
      throw doesNotContinue(claim);
    }
    const file = commitsName(epoch);
    const limit = until?.lines ?? newestLines ?? Number.POSITIVE_INFINITY;
    const segments: Segments = { counted: new Map(), written: new Map(), workedMs: null };
    let lines = 0;
    let bytes = 0;
    let head = at.head;
    reading: for await (const batch of readRecordLines(join(this.#runDir, RUN_FILES.log, file), { signal })) {
      for (const line of batch) {
        if (lines === limit) break reading;
        const parsed = lines > 0 ? parseChainLine(line) : null;
        if (parsed !== null && 'shard' in parsed && parsed.shard >= planned && !isVoid(parsed.shard)) {
          throw new Failure(
            'internal',
            `log/${file} line ${lines + 1} commits shard ${parsed.shard}, which is not planned`,
          );
        }
        if (lines > 0 && !(await this.#takeLine(parsed, head, step, segments))) {
          if (until !== null) {
            throw new Failure(
              'internal',
              `log/${file} line ${lines + 1} does not follow from the line before it`,
            );
          }
          const namesAnother = parsed !== null && parsed.prev !== head;
          this.endsBefore = { epoch, line: lines + 1, namesAnother };
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
    const { counted, written, workedMs } = segments;
    const times = { begunAt: claim.since ?? claim.at, claimedAt: claim.at, workedMs };
    this.parts.push({ epoch, lines, bytes, ...times, segments: counted, written });
    this.position = { epoch, lines, head };
  }

  async close(): Promise<void> {
    await this.#ranges.close();
  }

  /** Takes one line after the claim; false when it is no part of the chain. */
  async #takeLine(
    line: ChainLine | null,
    head: string,
    { claim, until, isVoid }: Step,
    segments: Segments,
  ): Promise<boolean> {
    if (line === null || line.prev !== head) return false;
    if ('closes' in line) {
      segments.workedMs = line.ms;
      return true;
    }
    if ('fingerprint' in line) {
      if (!this.fingerprints.has(line.fingerprint.id))
        this.fingerprints.set(line.fingerprint.id, line.fingerprint);
      return true;
    }
    if ('canaries' in line) {
      this.canaries.push(line.canaries);
      return true;
    }
    if (!fits(line, claim.claim, segments.written)) return false;
    const end = line.offset + line.length;
    const voided = isVoid(line.shard);
    // Writers never commit a shard twice with different outcomes, so this line's shard number was changed.
    if (!voided && until === null && differs(line, this.commits.get(line.shard))) return false;
    segments.written.set(line.segment, end);
    segments.workedMs = line.ms;
    if (voided || this.commits.has(line.shard)) return true;
    this.#options.signal.throwIfAborted();
    const { check } = this.#options;
    if (check !== undefined && !(await this.#holds(line, check.plannedShards))) return true;
    this.commits.add(line);
    segments.counted.set(line.segment, end);
    return true;
  }

  /** A shard whose first commit is damaged stays uncommitted: a later claim voids shards, not single commits. */
  async #holds(line: CommitLine, plannedShards: number): Promise<boolean> {
    const { shard, segment, offset } = line;
    if (this.#damagedShards.has(shard)) return false;
    const isPlanned = shard < plannedShards;
    if (isPlanned && (await this.#ranges.holds(line))) return true;
    this.#damagedShards.add(shard);
    const at = isPlanned ? `log/${segment} byte ${offset}` : RUN_FILES.plan;
    this.damaged.push({ shard, items: line.tally.items, at });
    return false;
  }
}

/** What an epoch committed: per segment the bytes that count and all that were written; and how long it worked. */
interface Segments {
  workedMs: number | null;
  readonly counted: Map<string, number>;
  readonly written: Map<string, number>;
}

/** An epoch commits ranges of its own segments only, without gaps: every byte of a segment is accounted for. */
function fits(commit: CommitLine, epoch: number, segments: ReadonlyMap<string, number>): boolean {
  const own = epochOf(commit.segment) === epoch && epochOfCommits(commit.segment) === null;
  return own && commit.offset === (segments.get(commit.segment) ?? 0);
}

/** Whether a shard is already committed with other bytes. */
function differs(commit: CommitLine, committed: CommittedRange | null): boolean {
  return committed !== null && committed.sha256 !== commit.sha256;
}
