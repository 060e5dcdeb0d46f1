import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import type { OutcomeLine } from '../../domain/outcome.ts';
import { RUN_FILES } from '../../files/run-files.ts';
import { placedLines, type FinishedVerdicts } from '../finished-verdicts.ts';
import type { LineFile } from '../line-file.ts';
import { DiffTally, differencesOf, type DiffCounts, type Difference } from './diff-tally.ts';
import { LinesByOffset } from './line-at.ts';
import {
  contentKey,
  ENTRY_BYTES,
  FingerprintNumbers,
  outcomeKey,
  readOutcome,
  writeEntry,
  type Outcome,
} from './outcome-entry.ts';
import { pairOutcomes, type Pair } from './pair-outcomes.ts';
import { Partitions } from './partitions.ts';

/** Pairs that a result names. */
const MAX_NAMED = 10;
/** Bytes of outcome lines per partition: a partition is held in memory while it is compared. */
const PARTITION_LINE_BYTES = 64 * 1024 * 1024;
const MAX_PARTITIONS = 256;

/** One item of a pair, as its outcome line has it. */
export interface DiffItem extends Pick<
  OutcomeLine,
  'seq' | 'id' | 'decision' | 'decided_by' | 'score' | 'flagged' | 'subcategory_flags' | 'fingerprint'
> {
  readonly path: string;
  readonly row: number | null;
  readonly part: string | null;
  readonly turn: number | null;
  readonly error: string | null;
}

/** A pair, or several of the same content and outcomes, of which the first items are named. */
export interface DiffPair {
  readonly content_sha256: string;
  readonly times: number;
  readonly differences: readonly Difference[];
  /** Score in run B minus score in run A; null unless both have a verdict. */
  readonly shift: number | null;
  readonly a: DiffItem;
  readonly b: DiffItem;
}

interface DiffSide {
  readonly run: string;
  readonly items: number;
  /** Items whose content is not in the other run, or there less often. */
  readonly only_here: number;
  /** Items that failed when they were read, so that they have no content to pair them by. */
  readonly without_content: number;
}

export interface DiffResult extends DiffCounts {
  readonly a: DiffSide;
  readonly b: DiffSide;
  /** The pairs whose scores moved most. */
  readonly top_shifts: readonly DiffPair[];
}

export interface DiffOptions {
  /** Takes every pair that differs in more than its score; null: they are only counted. */
  readonly out: LineFile | null;
  readonly signal: AbortSignal;
  /** Partitions of the temporary files; default: by the size of the runs. */
  readonly partitions?: number;
}

interface Spread {
  readonly partitions: Partitions;
  items: number;
  withoutContent: number;
}

/**
 * Compares two finished runs by content: wherever an item is now, it is paired with an item of the same content in the
 * other run. Writes 56 bytes per item to temporary files, spread by hash, and holds one part of them in memory at a time.
 */
export async function diffRuns(
  runA: FinishedVerdicts,
  runB: FinishedVerdicts,
  options: DiffOptions,
): Promise<DiffResult> {
  const { out, signal } = options;
  const count = options.partitions ?? (await partitionCount([runA, runB]));
  const fingerprints = new FingerprintNumbers();
  const spreads: Spread[] = [];
  const files: LinesByOffset[] = [];
  try {
    for (const run of [runA, runB]) {
      const spread = { partitions: await Partitions.create(count, ENTRY_BYTES), items: 0, withoutContent: 0 };
      spreads.push(spread);
      await spreadLines(run, spread, fingerprints, signal);
      files.push(await LinesByOffset.open(run.dir));
    }
    const [a, b] = spreads as [Spread, Spread];
    const named = (pair: Pair): Promise<DiffPair> => describe(pair, files as [LinesByOffset, LinesByOffset]);
    const tally = new DiffTally(fingerprints);
    const top: Pair[] = [];
    const only = { a: 0, b: 0 };
    for (let partition = 0; partition < count; partition++) {
      signal.throwIfAborted();
      const contents = await contentsOf(a.partitions, b.partitions, partition);
      for (const { as, bs } of contents.values()) {
        for (const pair of pairOutcomes(as, bs)) {
          const differences = differencesOf(pair.a, pair.b);
          tally.add(pair, differences);
          keepTop(top, pair);
          if (out === null || differences.length === 0) continue;
          signal.throwIfAborted();
          await out.write([`${JSON.stringify(await named(pair))}\n`]);
        }
        only.a += leftOf(as);
        only.b += leftOf(bs);
      }
    }
    const side = (run: FinishedVerdicts, spread: Spread, onlyHere: number): DiffSide => ({
      run: run.record.run,
      items: spread.items,
      only_here: onlyHere,
      without_content: spread.withoutContent,
    });
    const topShifts: DiffPair[] = [];
    for (const pair of top) topShifts.push(await named(pair));
    return { a: side(runA, a, only.a), b: side(runB, b, only.b), ...tally.counts(), top_shifts: topShifts };
  } finally {
    for (const file of files) await file.close();
    for (const { partitions } of spreads) await partitions.remove();
  }
}

async function partitionCount(runs: readonly FinishedVerdicts[]): Promise<number> {
  let bytes = 0;
  for (const { dir } of runs) bytes += (await lstat(join(dir, RUN_FILES.verdicts))).size;
  return Math.min(MAX_PARTITIONS, Math.ceil(bytes / PARTITION_LINE_BYTES) || 1);
}

async function spreadLines(
  run: FinishedVerdicts,
  spread: Spread,
  fingerprints: FingerprintNumbers,
  signal: AbortSignal,
): Promise<void> {
  const { partitions } = spread;
  const entry = Buffer.alloc(ENTRY_BYTES);
  for await (const batch of placedLines(run, signal)) {
    for (const { line, offset } of batch) {
      spread.items++;
      if (!writeEntry(entry, line, offset, fingerprints)) {
        spread.withoutContent++;
        continue;
      }
      const partition = entry.readUInt32LE(0) % partitions.count;
      if (partitions.add(partition, entry)) await partitions.flush(partition);
    }
  }
}

/** The outcomes of one content in both runs. */
interface Content {
  readonly as: Outcome[];
  readonly bs: Outcome[];
}

async function contentsOf(a: Partitions, b: Partitions, partition: number): Promise<Map<string, Content>> {
  const contents = new Map<string, Content>();
  for (const [partitions, side] of [
    [a, 'as'],
    [b, 'bs'],
  ] as const) {
    // Items of equal content and outcome count as one, so that memory does not grow with copies.
    const outcomes = new Map<string, Outcome>();
    for await (const entries of partitions.read(partition)) {
      for (let at = 0; at < entries.length; at += ENTRY_BYTES) {
        const same = outcomes.get(outcomeKey(entries, at));
        if (same !== undefined) {
          same.left++;
          continue;
        }
        const key = contentKey(entries, at);
        let content = contents.get(key);
        if (content === undefined) contents.set(key, (content = { as: [], bs: [] }));
        const outcome = readOutcome(entries, at);
        outcomes.set(outcomeKey(entries, at), outcome);
        content[side].push(outcome);
      }
    }
  }
  return contents;
}

function leftOf(outcomes: readonly Outcome[]): number {
  return outcomes.reduce((sum, { left }) => sum + left, 0);
}

function shiftOf({ a, b }: Pair): number | null {
  return a.result === 'error' || b.result === 'error' ? null : b.score - a.score;
}

/** Keeps the pairs that moved most, in descending order; of equal ones, those that come first in run A. */
function keepTop(top: Pair[], pair: Pair): void {
  const size = (each: Pair): number => Math.abs(shiftOf(each) ?? 0);
  if (size(pair) === 0) return;
  const isBefore = (other: Pair): boolean =>
    size(pair) > size(other) || (size(pair) === size(other) && pair.a.offset < other.a.offset);
  const at = top.findIndex(isBefore);
  if (at === -1 && top.length === MAX_NAMED) return;
  top.splice(at === -1 ? top.length : at, 0, pair);
  if (top.length > MAX_NAMED) top.pop();
}

async function describe(pair: Pair, [a, b]: readonly [LinesByOffset, LinesByOffset]): Promise<DiffPair> {
  const lineA = await a.at(pair.a.offset);
  return {
    content_sha256: lineA.content_sha256!,
    times: pair.times,
    differences: differencesOf(pair.a, pair.b),
    shift: shiftOf(pair),
    a: itemOf(lineA),
    b: itemOf(await b.at(pair.b.offset)),
  };
}

function itemOf(line: OutcomeLine): DiffItem {
  const { seq, id, source, part = null, turn = null, decision, decided_by } = line;
  const { score, flagged, subcategory_flags, fingerprint, error } = line;
  return {
    ...{ seq, id, path: source.path, row: source.row, part, turn, decision, decided_by },
    ...{ score, flagged, subcategory_flags, fingerprint, error: error?.code ?? null },
  };
}
