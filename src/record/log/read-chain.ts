import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { Failure } from '../../domain/failure.ts';
import type { Fingerprint } from '../../domain/fingerprint.ts';
import { plural } from '../../domain/text/plural.ts';
import { readRecordLines } from '../../files/record-lines.ts';
import { readRunFile } from '../read-run-file.ts';
import { RUN_FILES, commitsName, epochOf, epochOfCommits } from '../../files/run-files.ts';
import {
  lineHash,
  parseChainLine,
  parseClaim,
  type ChainPosition,
  type ChainLine,
  type ClaimLine,
  type ClosingLine,
  type CommitLine,
  type Damage,
} from './chain-line.ts';
import { CommitTable, type CommittedRange } from './commit-table.ts';
import { RangeReader } from './committed-range.ts';
import { listEpochs } from './epochs.ts';

/** The part of the chain that one epoch wrote. */
export interface ChainPart {
  readonly epoch: number;
  /** Lines and bytes of its commits that count. */
  readonly lines: number;
  readonly bytes: number;
  /** When the work began that its commits come from, and when it committed last; null: nothing. ISO 8601, UTC. */
  readonly begunAt: string;
  readonly lastCommitAt: string | null;
  /** Bytes that count of each of its segments, by name. */
  readonly segments: ReadonlyMap<string, number>;
  /** Bytes of each of its segments that were committed, those included that were found damaged later. */
  readonly written: ReadonlyMap<string, number>;
}

/** What the verdict log says: the commits along the path of epochs, each continuing the one before. */
export interface Chain {
  /** SHA-256 of run.json. */
  readonly genesis: string;
  /** Where the chain ends. */
  readonly position: ChainPosition;
  /** Oldest first. */
  readonly parts: readonly ChainPart[];
  readonly commits: CommitTable;
  /** With `check`: commits in it that do not hold. They are not among `commits`. */
  readonly damaged: readonly DamagedCommit[];
  /** What earlier writers found damaged, oldest first. */
  readonly damages: readonly (Damage & { readonly epoch: number })[];
  readonly fingerprints: ReadonlyMap<string, Fingerprint>;
  /** The closing lines of finished passes, oldest first. */
  readonly closings: readonly Closing[];
  /** Where the newest epoch goes on with something that is no part of the chain; null when it just ends. */
  readonly endsBefore: ChainEnd | null;
}

/** A closing line, and its place in the chain. */
export interface Closing extends ClosingLine {
  readonly position: ChainPosition;
}

/** A whole line that is no part of the chain. */
export interface ChainEnd {
  readonly epoch: number;
  readonly line: number;
  /** Whether it has the form of a line of the chain, and names another one as the one before it. */
  readonly namesAnother: boolean;
}

export interface DamagedCommit {
  readonly shard: number;
  readonly items: number;
  /** Where, for people. */
  readonly at: string;
}

export interface ReadChainOptions {
  readonly signal: AbortSignal;
  /** Leave out this epoch and later ones. */
  readonly below?: number;
  /** Take only so many lines of the newest epoch. */
  readonly newestLines?: number;
  /** Look for commits that do not hold: of shards that are not planned, or whose bytes are not in the segments. */
  readonly check?: { readonly plannedShards: number };
  /** How many shards are planned, where others make the chain invalid. A log then takes no more memory than its plan allows. */
  readonly plannedShards?: number;
}

/**
 * Reads the chain, beginning at the highest epoch whose claim is complete. What older epochs hold beyond the point
 * where the next one took over is void, and the newest may end in a line that was torn off.
 * Throws Failure('internal') naming file and line when a line that others build on does not hold.
 */
export async function readChain(runDir: string, options: ReadChainOptions): Promise<Chain> {
  const genesis = createHash('sha256')
    .update(await readRunFile(runDir, RUN_FILES.run))
    .digest('hex');
  const path = await pathOfEpochs(runDir, options);
  const walk = new ChainWalk(runDir, genesis);
  try {
    const voided = voidedBy(path);
    for (const [index, claim] of path.entries()) {
      walk.isVoid = (shard) => (voided.get(shard) ?? -1) > index;
      await walk.part(claim, path[index + 1]?.continues ?? null, options);
    }
  } finally {
    await walk.ranges.close();
  }
  return {
    genesis,
    position: walk.position,
    parts: walk.parts,
    commits: walk.commits,
    damaged: walk.damaged,
    damages: path.flatMap(({ claim, damage }) => (damage === undefined ? [] : [{ ...damage, epoch: claim }])),
    fingerprints: walk.fingerprints,
    closings: walk.closings,
    endsBefore: walk.endsBefore,
  };
}

/** By shard, the index on the path of the last claim that has found commits of it damaged: those before it are void. */
function voidedBy(path: readonly ClaimLine[]): ReadonlyMap<number, number> {
  const voided = new Map<number, number>();
  for (const [index, { damage }] of path.entries()) {
    for (const shard of damage?.shards ?? []) voided.set(shard, index);
  }
  return voided;
}

/** What the manifest says of the damage that a chain's writers found. */
export function damageOf({ damages }: Chain): { epoch: number; at: string; outcomes: number }[] {
  return damages.map(({ epoch, at, outcomes }) => ({ epoch, at, outcomes }));
}

/** How many outcomes had been committed, were found damaged, and were judged again. */
export function lostToDamage({ damages }: Chain): number {
  return damages.reduce((sum, { outcomes }) => sum + outcomes, 0);
}

/** The claims from the first epoch on the path to the last. */
async function pathOfEpochs(runDir: string, options: ReadChainOptions): Promise<ClaimLine[]> {
  const epochs = (await listEpochs(runDir)).filter(
    (epoch) => epoch < (options.below ?? Number.POSITIVE_INFINITY),
  );
  const path: ClaimLine[] = [];
  for (let epoch = epochs.pop(); epoch !== undefined;) {
    const claim = await readClaim(runDir, epoch, options.signal);
    if (claim !== null) {
      path.unshift(claim);
      const before = claim.continues.epoch;
      if (before === 0) break;
      if (before >= epoch || !epochs.includes(before)) throw doesNotContinue(claim);
      epoch = before;
    } else if (path.length === 0) {
      // Whoever took this epoch died, or is still reading, before it said what it continues: it wrote nothing else.
      epoch = epochs.pop();
    } else {
      throw doesNotContinue(path[0]!);
    }
  }
  return path;
}

/** What an epoch continues; null while its taker has not said so, or when that line does not hold. */
export async function readClaim(
  runDir: string,
  epoch: number,
  signal: AbortSignal,
): Promise<ClaimLine | null> {
  for await (const [first] of readRecordLines(join(runDir, RUN_FILES.log, commitsName(epoch)), { signal })) {
    const claim = parseClaim(first!);
    return claim?.claim === epoch ? claim : null;
  }
  return null;
}

function doesNotContinue(claim: ClaimLine): Failure {
  const before = claim.continues.epoch === 0 ? 'run.json' : `log/${commitsName(claim.continues.epoch)}`;
  return new Failure(
    'internal',
    `log/${commitsName(claim.claim)} line 1 does not continue ${before} as it is now`,
  );
}

/** Follows the chain part by part, gathering what its lines say. */
class ChainWalk {
  readonly parts: ChainPart[] = [];
  readonly commits = new CommitTable();
  readonly damaged: DamagedCommit[] = [];
  isVoid: (shard: number) => boolean = () => false;
  readonly fingerprints = new Map<string, Fingerprint>();
  readonly closings: Closing[] = [];
  readonly ranges: RangeReader;
  readonly #runDir: string;
  readonly #damagedShards = new Set<number>();
  position: ChainPosition;
  endsBefore: Chain['endsBefore'] = null;

  constructor(runDir: string, genesis: string) {
    this.#runDir = runDir;
    this.ranges = new RangeReader(runDir);
    this.position = { epoch: 0, lines: 0, head: genesis };
  }

  /** `until` is where the next epoch took over: everything up to there has to hold. Null for the newest epoch. */
  async part(claim: ClaimLine, until: ChainPosition | null, options: ReadChainOptions): Promise<void> {
    const epoch = claim.claim;
    const { continues } = claim;
    const at = this.position;
    if (continues.epoch !== at.epoch || continues.lines !== at.lines || continues.head !== at.head) {
      throw doesNotContinue(claim);
    }
    const file = commitsName(epoch);
    const limit = until?.lines ?? options.newestLines ?? Number.POSITIVE_INFINITY;
    const segments: Segments = { counted: new Map(), written: new Map(), lastCommitAt: null };
    const { check, signal } = options;
    const context = { epoch, isNewest: until === null, check, signal };
    let lines = 0;
    let bytes = 0;
    let head = at.head;
    reading: for await (const batch of readRecordLines(join(this.#runDir, RUN_FILES.log, file), options)) {
      for (const line of batch) {
        if (lines === limit) break reading;
        const parsed = lines > 0 ? parseChainLine(line) : null;
        const planned = options.plannedShards ?? Number.POSITIVE_INFINITY;
        if (parsed !== null && 'shard' in parsed && parsed.shard >= planned && !this.isVoid(parsed.shard)) {
          throw new Failure(
            'internal',
            `log/${file} line ${lines + 1} commits shard ${parsed.shard}, which is not planned`,
          );
        }
        if (lines > 0 && !(await this.#take(parsed, head, context, segments))) {
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
        `log/${file} has ${lines} ${plural(lines, 'line')}, but ${limit} were there when the run was continued`,
      );
    }
    const { counted, written, lastCommitAt } = segments;
    const begunAt = claim.since ?? claim.at;
    this.parts.push({ epoch, lines, bytes, begunAt, lastCommitAt, segments: counted, written });
    this.position = { epoch, lines, head };
  }

  /** Takes one line after the claim in; false when it is no part of the chain. */
  async #take(
    line: ChainLine | null,
    head: string,
    { epoch, isNewest, check, signal }: LineContext,
    segments: Segments,
  ): Promise<boolean> {
    if (line === null || line.prev !== head) return false;
    if ('closes' in line) return true;
    if ('fingerprint' in line) {
      if (!this.fingerprints.has(line.fingerprint.id))
        this.fingerprints.set(line.fingerprint.id, line.fingerprint);
      return true;
    }
    if (!fits(line, epoch, segments.written)) return false;
    const end = line.offset + line.length;
    const isVoid = this.isVoid(line.shard);
    // No writer commits a shard again with other outcomes: the number is not the one that was written.
    if (!isVoid && isNewest && differs(line, this.commits.get(line.shard))) return false;
    segments.written.set(line.segment, end);
    segments.lastCommitAt = line.at;
    if (isVoid || this.commits.has(line.shard)) return true;
    signal.throwIfAborted();
    if (check !== undefined && !(await this.#holds(line, check.plannedShards))) return true;
    this.commits.add(line);
    segments.counted.set(line.segment, end);
    return true;
  }

  /** A shard whose first commit does not hold is not committed: a later claim names shards, not commits. */
  async #holds(line: CommitLine, plannedShards: number): Promise<boolean> {
    const { shard, items, segment, offset } = line;
    if (this.#damagedShards.has(shard)) return false;
    const isPlanned = shard < plannedShards;
    if (isPlanned && (await this.ranges.holds(line))) return true;
    this.#damagedShards.add(shard);
    const at = isPlanned ? `log/${segment} byte ${offset}` : RUN_FILES.plan;
    this.damaged.push({ shard, items, at });
    return false;
  }
}

/** Where a line stands. What later epochs build on is known by their hashes. */
interface LineContext {
  readonly epoch: number;
  readonly isNewest: boolean;
  readonly check: ReadChainOptions['check'];
  readonly signal: AbortSignal;
}

/** What an epoch committed: bytes of segments, by name, those that count and all that were written; and when. */
interface Segments {
  lastCommitAt: string | null;
  readonly counted: Map<string, number>;
  readonly written: Map<string, number>;
}

/** An epoch commits ranges of its own segments only, without gaps, so that every byte of a segment is accounted for. */
function fits(commit: CommitLine, epoch: number, segments: ReadonlyMap<string, number>): boolean {
  const own = epochOf(commit.segment) === epoch && epochOfCommits(commit.segment) === null;
  return own && commit.offset === (segments.get(commit.segment) ?? 0);
}

/** Whether a shard is committed already, with other bytes. */
function differs(commit: CommitLine, committed: CommittedRange | null): boolean {
  return committed !== null && committed.sha256 !== commit.sha256;
}
