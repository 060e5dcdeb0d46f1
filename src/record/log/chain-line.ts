import { hash } from 'node:crypto';
import { z } from 'zod';
import type { CanaryCheck } from '../../domain/canary/canary-check.ts';
import type { Fingerprint } from '../../domain/fingerprint.ts';
import { decodeLine, encodeLine } from '../../files/checked-line.ts';
import { SHARD_TALLY, type ShardTally } from '../shard-tally.ts';
import { CANARY_CHECK } from './canary-schema.ts';

/** A position in the chain: an epoch, and a number of lines of its commits file. Epoch 0 is the genesis, without lines. */
export interface ChainPosition {
  readonly epoch: number;
  /** Lines of that epoch's commits file that count, including its claim. */
  readonly lines: number;
  /** Hash of the last of them; for the genesis, SHA-256 of run.json. */
  readonly head: string;
}

/** First line of an epoch's commits file: what it continues. What earlier epochs hold beyond that position is void. */
export interface ClaimLine {
  readonly claim: number;
  readonly continues: ChainPosition;
  /** ISO 8601, UTC. */
  readonly at: string;
  /** When the work on its commits began, if before the claim. ISO 8601, UTC. */
  readonly since?: string | undefined;
}

/** A committed shard: where its outcome lines are, and their hash. */
export interface CommitLine {
  readonly shard: number;
  readonly pass: number;
  /** Name in `log`. */
  readonly segment: string;
  readonly offset: number;
  readonly length: number;
  readonly sha256: string;
  readonly tally: ShardTally;
  /** ISO 8601, UTC: when it was committed. */
  readonly at: string;
  /** Milliseconds since the claim of its epoch, by a clock that does not jump. */
  readonly ms: number;
  /** Hash of the line before this one. */
  readonly prev: string;
}

/** A fingerprint in full, before the first shard whose verdicts name it. */
interface FingerprintLine {
  readonly fingerprint: Fingerprint;
  readonly prev: string;
}

/** A check that a model passed, before the first shard whose verdicts are of that model. */
interface CanaryLine {
  readonly canaries: CanaryCheck;
  readonly prev: string;
}

/**
 * The last line of a finished pass. It holds everything in manifest.json and summary.json that cannot be derived from
 * the rest of the log, so its hash, the chain head, covers the whole record.
 */
export interface ClosingLine {
  /** Number of the pass. */
  readonly closes: number;
  /** ISO 8601, UTC: when the pass was finished. */
  readonly at: string;
  /** As in a commit; by then the outcome files are written. */
  readonly ms: number;
  /** The run directory at that time, absolute. */
  readonly dir: string;
  /** Rows of the tables that are made from verdicts.jsonl, by name. */
  readonly rows: Readonly<Record<string, number>>;
  /** `filesHash` of the manifest's `files`. */
  readonly files: string;
  readonly prev: string;
}

/** A line after the claim. */
export type ChainLine = CommitLine | FingerprintLine | CanaryLine | ClosingLine;

const count = z.int().min(0);
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const time = z.iso.datetime();

const CLAIM = z.strictObject({
  claim: z.int().min(1),
  continues: z.strictObject({ epoch: count, lines: count, head: sha256 }),
  at: time,
  since: time.optional(),
});

const COMMIT = z.strictObject({
  shard: count,
  pass: z.int().min(1),
  segment: z.string(),
  offset: count,
  length: count,
  sha256,
  tally: SHARD_TALLY,
  at: time,
  ms: count,
  prev: sha256,
});

const FINGERPRINT = z.strictObject({
  fingerprint: z.strictObject({ id: z.string(), artifacts: z.record(z.string(), z.string()) }),
  prev: sha256,
});

const CLOSING = z.strictObject({
  closes: z.int().min(1),
  at: time,
  ms: count,
  dir: z.string(),
  rows: z.record(z.string(), count),
  files: sha256,
  prev: sha256,
});

const CANARY = z.strictObject({ canaries: CANARY_CHECK, prev: sha256 });

const CHAIN_LINE = z.union([COMMIT, FINGERPRINT, CANARY, CLOSING]);

/** The text of a line, without its newline. Its `check` protects the newest line, whose hash no other line names yet. */
export function encodeChainLine(line: ClaimLine | ChainLine): string {
  return encodeLine(line);
}

/** The hash that the next line names: SHA-256 of a line's bytes, including its check, without its newline. */
export function lineHash(bytes: Uint8Array | string): string {
  return hash('sha256', bytes);
}

/** Parses a claim; null when the bytes are not one, or do not fit their check. */
export function parseClaim(bytes: Buffer): ClaimLine | null {
  return parse(CLAIM, bytes);
}

/** Parses a line after the claim; null when the bytes are not one, or do not fit their check. */
export function parseChainLine(bytes: Buffer): ChainLine | null {
  return parse(CHAIN_LINE, bytes);
}

function parse<T extends object>(schema: z.ZodType<T>, bytes: Buffer): T | null {
  const line = decodeLine(schema, bytes);
  return typeof line === 'object' ? line : null;
}
