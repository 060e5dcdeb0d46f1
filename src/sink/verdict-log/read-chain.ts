import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../domain/failure.ts';
import type { Fingerprint } from '../../domain/fingerprint.ts';
import { readRecordLines } from '../../ingest/record-lines.ts';
import { RUN_FILES, commitsName, epochOf, epochOfCommits } from '../run-files.ts';
import {
  lineHash,
  parseChainLine,
  parseClaim,
  type ChainPosition,
  type ClaimLine,
  type CommitLine,
} from './chain-line.ts';
import { CommitTable } from './commit-table.ts';
import { RangeReader } from './committed-range.ts';
import { listEpochs } from './epochs.ts';

/** The part of the chain that one epoch wrote. */
export interface ChainPart {
  readonly epoch: number;
  /** Lines and bytes of its commits that count. */
  readonly lines: number;
  readonly bytes: number;
  /** Bytes that count of each of its segments, by name. */
  readonly segments: ReadonlyMap<string, number>;
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
  readonly fingerprints: ReadonlyMap<string, Fingerprint>;
  /** Null before the first commit. */
  readonly lastCommit: CommitLine | null;
  /** Where the newest epoch goes on with something that is no part of the chain; null when it just ends. */
  readonly endsBefore: { readonly file: string; readonly line: number } | null;
}

export interface ReadChainOptions {
  readonly signal: AbortSignal;
  /** Leave out this epoch and later ones. */
  readonly below?: number;
  /** End the chain before the first commit of the newest epoch whose segment bytes are not what was committed. */
  readonly checkRanges?: boolean;
}

/**
 * Reads the chain, beginning at the highest epoch whose claim is complete. What older epochs hold beyond the point
 * where the next one took over is void, and the newest may end in a line that was torn off.
 * Throws Failure('internal') naming file and line when a line that others build on does not hold.
 */
export async function readChain(runDir: string, options: ReadChainOptions): Promise<Chain> {
  const genesis = createHash('sha256')
    .update(await readFile(join(runDir, RUN_FILES.run)))
    .digest('hex');
  const path = await pathOfEpochs(runDir, options);
  const walk = new ChainWalk(runDir, genesis);
  try {
    for (const [index, claim] of path.entries()) {
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
    fingerprints: walk.fingerprints,
    lastCommit: walk.lastCommit,
    endsBefore: walk.endsBefore,
  };
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

async function readClaim(runDir: string, epoch: number, signal: AbortSignal): Promise<ClaimLine | null> {
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
  readonly fingerprints = new Map<string, Fingerprint>();
  readonly ranges: RangeReader;
  readonly #runDir: string;
  position: ChainPosition;
  lastCommit: CommitLine | null = null;
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
    const limit = until?.lines ?? Number.POSITIVE_INFINITY;
    const checkRange = options.checkRanges === true && until === null;
    const segments = new Map<string, number>();
    let lines = 0;
    let bytes = 0;
    let head = at.head;
    reading: for await (const batch of readRecordLines(join(this.#runDir, RUN_FILES.log, file), options)) {
      for (const line of batch) {
        if (lines === limit) break reading;
        if (lines > 0 && !(await this.#take(line, head, epoch, segments, checkRange))) {
          if (until !== null) {
            throw new Failure(
              'internal',
              `log/${file} line ${lines + 1} does not follow from the line before it`,
            );
          }
          this.endsBefore = { file: `log/${file}`, line: lines + 1 };
          break reading;
        }
        head = lineHash(line);
        lines++;
        bytes += line.length + 1;
      }
    }
    if (until !== null && lines < limit) {
      throw new Failure(
        'internal',
        `log/${file} has ${lines} lines, but ${limit} were there when the run was continued`,
      );
    }
    this.parts.push({ epoch, lines, bytes, segments });
    this.position = { epoch, lines, head };
  }

  /** Takes one line after the claim in; false when it is no part of the chain. */
  async #take(
    bytes: Buffer,
    head: string,
    epoch: number,
    segments: Map<string, number>,
    checkRange: boolean,
  ): Promise<boolean> {
    const line = parseChainLine(bytes);
    if (line === null || line.prev !== head) return false;
    if ('fingerprint' in line) {
      if (!this.fingerprints.has(line.fingerprint.id))
        this.fingerprints.set(line.fingerprint.id, line.fingerprint);
      return true;
    }
    if (!fits(line, epoch, segments)) return false;
    if (checkRange && !(await this.ranges.holds(line))) return false;
    this.commits.add(line);
    segments.set(line.segment, line.offset + line.length);
    this.lastCommit = line;
    return true;
  }
}

/** An epoch commits ranges of its own segments only, without gaps, so that every byte of a segment is accounted for. */
function fits(commit: CommitLine, epoch: number, segments: ReadonlyMap<string, number>): boolean {
  const own = epochOf(commit.segment) === epoch && epochOfCommits(commit.segment) === null;
  return own && commit.offset === (segments.get(commit.segment) ?? 0);
}
