import { commitsName } from '../../files/run-files.ts';
import type { CanaryCheck } from '../../domain/canary/canary-check.ts';
import type { Fingerprint } from '../../domain/fingerprint.ts';
import type { ChainPosition, ClosingLine } from './chain-line.ts';
import type { CommitTable } from './commit-table.ts';

/** The verdict log's content: the commits along the path of epochs, each continuing the one before. */
export interface Chain {
  /** End of the chain. */
  readonly position: ChainPosition;
  /** Oldest first. */
  readonly parts: readonly ChainPart[];
  readonly commits: CommitTable;
  readonly fingerprints: ReadonlyMap<string, Fingerprint>;
  /** Checks of the models, in the order of the log. */
  readonly canaries: readonly CanaryCheck[];
  /** The closing lines of finished passes, oldest first. */
  readonly closings: readonly Closing[];
  /** The first complete line of the newest epoch that is not part of the chain; null when there is none. */
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
  /** Milliseconds from the claim to the last commit or to the end of the pass; null if there is neither. */
  readonly workedMs: number | null;
  /** Committed bytes of each of its segments, by name. */
  readonly segments: ReadonlyMap<string, number>;
}

/** A closing line and its position in the chain. */
export interface Closing extends ClosingLine {
  readonly position: ChainPosition;
}

/** A complete line that is not part of the chain. */
export interface ChainEnd {
  readonly epoch: number;
  readonly line: number;
}

/** Human-readable location of a line of the log. */
export function formatPlace({ epoch, line }: ChainEnd): string {
  return `log/${commitsName(epoch)} line ${line}`;
}
