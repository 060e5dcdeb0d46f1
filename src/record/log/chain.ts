import { commitsName } from '../../files/run-files.ts';
import type { CanaryCheck } from '../../domain/canary/canary-check.ts';
import type { Fingerprint } from '../../domain/fingerprint.ts';
import type { ChainPosition, ClosingLine, Damage } from './chain-line.ts';
import type { CommitTable } from './commit-table.ts';

/** What the verdict log holds: the commits along the path of epochs, each continuing the one before. */
export interface Chain {
  /** Where the chain ends. */
  readonly position: ChainPosition;
  /** Oldest first. */
  readonly parts: readonly ChainPart[];
  readonly commits: CommitTable;
  /** Commits that were found damaged in this reading (see `ReadChainOptions.check`). They are not among `commits`. */
  readonly damaged: readonly DamagedCommit[];
  /** What earlier writers found damaged, oldest first. */
  readonly damages: readonly (Damage & { readonly epoch: number })[];
  readonly fingerprints: ReadonlyMap<string, Fingerprint>;
  /** What the models were checked with before they judged, in the order of the log. */
  readonly canaries: readonly CanaryCheck[];
  /** The closing lines of finished passes, oldest first. */
  readonly closings: readonly Closing[];
  /** The first complete line of the newest epoch that is no part of the chain; null when there is none. */
  readonly endsBefore: ChainEnd | null;
}

/** The part of the chain that one epoch wrote. */
export interface ChainPart {
  readonly epoch: number;
  /** Lines and bytes of its commits file that count. */
  readonly lines: number;
  readonly bytes: number;
  /** When the work on its commits began, and when it was claimed. ISO 8601, UTC. */
  readonly begunAt: string;
  readonly claimedAt: string;
  /** Milliseconds from the claim to its last commit, or to the end of its pass; null if it has neither. */
  readonly workedMs: number | null;
  /** Bytes that count of each of its segments, by name. */
  readonly segments: ReadonlyMap<string, number>;
  /** Bytes of each of its segments that were committed, including those found damaged later. */
  readonly written: ReadonlyMap<string, number>;
}

/** A closing line, and its place in the chain. */
export interface Closing extends ClosingLine {
  readonly position: ChainPosition;
}

/** A complete line that is no part of the chain. */
export interface ChainEnd {
  readonly epoch: number;
  readonly line: number;
  /** Whether it is a valid line whose `prev` names another line than the one before it. */
  readonly namesAnother: boolean;
}

export interface DamagedCommit {
  readonly shard: number;
  readonly items: number;
  /** Where, for people. */
  readonly at: string;
}

/**
 * Where the newest epoch's commits are damaged, for people; null when they are not. When a line names another one before
 * it, either of the two was changed: the first of them is named.
 */
export function damagedAt(endsBefore: ChainEnd | null): string | null {
  if (endsBefore === null) return null;
  const { epoch, line, namesAnother } = endsBefore;
  return placeOf({ epoch, line: namesAnother ? line - 1 : line });
}

/** A line of the log, for people. */
export function placeOf({ epoch, line }: Pick<ChainEnd, 'epoch' | 'line'>): string {
  return `log/${commitsName(epoch)} line ${line}`;
}

/** The `damage` of the manifest: what the writers of the chain found damaged. */
export function damageOf({ damages }: Chain): { epoch: number; at: string; outcomes: number }[] {
  return damages.map(({ epoch, at, outcomes }) => ({ epoch, at, outcomes }));
}

/** Number of outcomes that were committed, found damaged, and made again. */
export function lostToDamage({ damages }: Chain): number {
  return damages.reduce((sum, { outcomes }) => sum + outcomes, 0);
}
