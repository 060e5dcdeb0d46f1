import { hash } from 'node:crypto';
import { z } from 'zod';
import { decodeLine, encodeLine } from '../../files/checked-line.ts';
import { SHARD_TALLY } from '../shard-tally.ts';
import { CANARY_CHECK } from './canary-schema.ts';

const count = z.int().min(0);
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
/** ISO 8601, UTC. */
const time = z.iso.datetime();
/** Hash of the line before this one. */
const prev = sha256;

/**
 * A position in the chain: an epoch and a number of lines of its commits file. Epoch 0 is the genesis, which has no
 * lines.
 */
const POSITION = z.strictObject({
  epoch: count,
  /** Number of lines of that epoch's commits file that count, including its claim. */
  lines: count,
  /** Hash of the last line that counts; for the genesis, SHA-256 of run.json. */
  head: sha256,
});

/**
 * First line of an epoch's commits file: the position it continues from. Lines of earlier epochs after that position
 * are void.
 */
const CLAIM = z.strictObject({
  claim: z.int().min(1),
  continues: POSITION,
  at: time,
  /** When the work on its commits began, if before the claim. */
  since: time.optional(),
});

/** A committed shard: the position and the hash of its outcome lines. */
const COMMIT = z.strictObject({
  shard: count,
  pass: z.int().min(1),
  /** Name in `log`. */
  segment: z.string(),
  offset: count,
  length: count,
  sha256,
  tally: SHARD_TALLY,
  /** When it was committed. */
  at: time,
  /** Milliseconds since the claim of its epoch, by a clock that does not jump. */
  ms: count,
  prev,
});

/** A full fingerprint, written before the first shard whose verdicts name it. */
const FINGERPRINT = z.strictObject({
  fingerprint: z.strictObject({ id: z.string(), artifacts: z.record(z.string(), z.string()) }),
  prev,
});

/** A check that a model passed, written before the first shard with verdicts of that model. */
const CANARY = z.strictObject({ canaries: CANARY_CHECK, prev });

/**
 * The last line of a finished pass. It holds everything in manifest.json and summary.json that cannot be derived from
 * the rest of the log, so its hash, the chain head, covers the whole record.
 */
const CLOSING = z.strictObject({
  /** Number of the pass. */
  closes: z.int().min(1),
  /** When the pass was finished. */
  at: time,
  /** As in a commit; the outcome files are written by then. */
  ms: count,
  /** Absolute path of the run directory at that time. */
  dir: z.string(),
  /** Row counts of the tables made from verdicts.jsonl, by table name. */
  rows: z.record(z.string(), count),
  /** `filesHash` of the manifest's `files`. */
  files: sha256,
  prev,
});

const CHAIN_LINE = z.union([COMMIT, FINGERPRINT, CANARY, CLOSING]);

export type ChainPosition = Readonly<z.infer<typeof POSITION>>;
export type ClaimLine = Readonly<z.infer<typeof CLAIM>>;
export type CommitLine = Readonly<z.infer<typeof COMMIT>>;
export type ClosingLine = Readonly<z.infer<typeof CLOSING>>;

/** A line after the claim. */
export type ChainLine = Readonly<z.infer<typeof CHAIN_LINE>>;

/** Encodes a line, without its newline. Its `check` protects the newest line, whose hash no other line names yet. */
export function encodeChainLine(line: ClaimLine | ChainLine): string {
  return encodeLine(line);
}

/** Hash that the next line names: SHA-256 of a line's bytes, including its check, without its newline. */
export function lineHash(bytes: Uint8Array | string): string {
  return hash('sha256', bytes);
}

/** Parses a claim; null when the bytes are not one or fail their check. */
export function parseClaim(bytes: Buffer): ClaimLine | null {
  return parse(CLAIM, bytes);
}

/** Parses a line after the claim; null when the bytes are not one or fail their check. */
export function parseChainLine(bytes: Buffer): ChainLine | null {
  return parse(CHAIN_LINE, bytes);
}

function parse<T extends object>(schema: z.ZodType<T>, bytes: Buffer): T | null {
  const line = decodeLine(schema, bytes);
  return typeof line === 'object' ? line : null;
}
