import { hash } from 'node:crypto';
import { z } from 'zod';
import type { Fingerprint } from '../../domain/fingerprint.ts';
import { withCheck, withoutCheck } from '../../files/line-check.ts';

/** A place in the chain: after so many lines of an epoch's commits. Epoch 0 is the genesis, which has no lines. */
export interface ChainPosition {
  readonly epoch: number;
  /** Lines of that epoch's commits that count, its claim included. */
  readonly lines: number;
  /** Hash of the last of them; for the genesis, SHA-256 of run.json. */
  readonly head: string;
}

/** First line of an epoch's commits: whose work it continues. What the earlier epochs hold beyond that is void. */
export interface ClaimLine {
  readonly claim: number;
  readonly continues: ChainPosition;
  /** ISO 8601, UTC. */
  readonly at: string;
  /** When the work began that its commits come from, where that was before the claim. ISO 8601, UTC. */
  readonly since?: string | undefined;
  /** What was found damaged when the epoch was claimed. */
  readonly damage?: Damage | undefined;
}

/** What had been committed, and does not hold any more: it is judged again. */
export interface Damage {
  /** The first place where something does not hold: `log/0001-commits.jsonl line 5`. */
  readonly at: string;
  /** Outcomes that are lost. */
  readonly outcomes: number;
  /** Shards of which the commits in the chain up to here are void. */
  readonly shards: readonly number[];
}

export interface ShardCounts {
  readonly items: number;
  readonly errors: number;
  /** Verdicts by decision; the rest of `items - errors` is allowed. */
  readonly review: number;
  readonly block: number;
}

/** One committed shard: where its outcome lines are, and their hash. */
export interface CommitLine extends ShardCounts {
  readonly shard: number;
  readonly pass: number;
  /** Name in `log`. */
  readonly segment: string;
  readonly offset: number;
  readonly length: number;
  readonly sha256: string;
  /** ISO 8601, UTC: when it was committed. */
  readonly at: string;
  /** Hash of the line before this one. */
  readonly prev: string;
}

/** A fingerprint in full, before the first shard whose verdicts name it. */
export interface FingerprintLine {
  readonly fingerprint: Fingerprint;
  readonly prev: string;
}

/**
 * The last line of a finished pass. It holds what manifest.json and summary.json say and the rest of the log does not,
 * so that the hash of this line, the chain head, stands for all of the record.
 */
export interface ClosingLine {
  /** The pass. */
  readonly closes: number;
  /** ISO 8601, UTC: when the pass was finished. */
  readonly at: string;
  /** The run directory at that time, absolute. */
  readonly dir: string;
  /** `ListHash` of the manifest's `sources`. */
  readonly sources: string;
  /** `ListHash` of the manifest's `files`, except those that depend on this line. */
  readonly files: string;
  readonly prev: string;
}

/** A line after the claim. */
export type ChainLine = CommitLine | FingerprintLine | ClosingLine;

const count = z.int().min(0);
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const time = z.iso.datetime();

const CLAIM = z.strictObject({
  claim: z.int().min(1),
  continues: z.strictObject({ epoch: count, lines: count, head: sha256 }),
  at: time,
  since: time.optional(),
  damage: z.strictObject({ at: z.string(), outcomes: count, shards: z.array(count) }).optional(),
});

const COMMIT = z.strictObject({
  shard: count,
  pass: z.int().min(1),
  segment: z.string(),
  offset: count,
  length: count,
  sha256,
  items: count,
  errors: count,
  review: count,
  block: count,
  at: time,
  prev: sha256,
});

const FINGERPRINT = z.strictObject({
  fingerprint: z.strictObject({ id: z.string(), artifacts: z.record(z.string(), sha256) }),
  prev: sha256,
});

const CLOSING = z.strictObject({
  closes: z.int().min(1),
  at: time,
  dir: z.string(),
  sources: sha256,
  files: sha256,
  prev: sha256,
});

const CHAIN_LINE = z.union([COMMIT, FINGERPRINT, CLOSING]);

/** A line of a commits file, without its line end. Its check holds for as long as no other line names its hash. */
export function encodeChainLine(line: ClaimLine | ChainLine): string {
  return withCheck(JSON.stringify(line));
}

/** The hash that the next line names: SHA-256 of a line's bytes, its check included and its newline excluded. */
export function lineHash(bytes: Uint8Array | string): string {
  return hash('sha256', bytes);
}

/** A claim from its bytes; null when they are none, or not as they were written. */
export function parseClaim(bytes: Buffer): ClaimLine | null {
  return parse(CLAIM, bytes);
}

/** A line after the claim from its bytes; null when they are none, or not as they were written. */
export function parseChainLine(bytes: Buffer): ChainLine | null {
  return parse(CHAIN_LINE, bytes);
}

function parse<T>(schema: z.ZodType<T>, bytes: Buffer): T | null {
  const json = withoutCheck(bytes.toString());
  if (json === null) return null;
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return null;
  }
  const parsed = schema.safeParse(value);
  return parsed.success ? parsed.data : null;
}
