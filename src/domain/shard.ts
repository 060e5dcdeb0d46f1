import { createHash } from 'node:crypto';
import type { CanaryCheck } from './canary/canary-check.ts';
import type { Fingerprint } from './fingerprint.ts';
import { hasReusedVerdict, type Item, type Lane } from './item.ts';
import type { ItemError } from './item-error.ts';
import type { Judgement, Outcome } from './outcome.ts';
import { requestBytes } from './request.ts';
import type { Snippet } from './text/snippet.ts';

/** A bounded group of items of one lane: the unit of queueing and of committing. */
export interface Shard {
  /** 0-based number in the plan, counted over all lanes and passes. */
  readonly shard: number;
  /** 1 for the first pass; each `retry` adds one. */
  readonly pass: number;
  readonly lane: Lane;
  /** Items in ascending order of seq. */
  readonly items: readonly Item[];
}

/**
 * Identity of a shard's payload, 64 hex digits: SHA-256 over one line per item with seq, id (as JSON), and the content
 * hash or, for an item that failed when it was read, its error code. Reading the same sources again yields the same
 * value, so a resumed run can check that it reads what was planned. Settled verdicts do not affect it.
 */
export function payloadSha256(items: readonly Item[]): string {
  const hash = createHash('sha256');
  let lines = '';
  for (const item of items) {
    lines += `${item.seq} ${JSON.stringify(item.id)} ${item.contentSha256 ?? item.settled.error.code}\n`;
    if (lines.length > 65_536) {
      hash.update(lines);
      lines = '';
    }
  }
  return hash.update(lines).digest('hex');
}

/** Size of a shard's content in bytes; the turns of a conversation share their messages, which count once. */
export function shardBytes(items: readonly Item[]): number {
  let bytes = 0;
  items.forEach(({ request }, index) => {
    if (request === null) return;
    const next = items[index + 1]?.request;
    const shared =
      request.requestType === 'multiturn' &&
      next?.requestType === 'multiturn' &&
      request.conversation !== null &&
      next.conversation === request.conversation;
    // The last turn of a conversation includes the others.
    if (!shared) bytes += requestBytes(request);
  });
  return bytes;
}

/** A shard with the outcome of every item, as passed to the sink. */
export interface ShardResult {
  readonly shard: Shard;
  /** Outcomes in the order of the shard's items; null for a settled item, which has its own. */
  readonly outcomes: readonly (Outcome | null)[];
  /** All fingerprints to which the outcomes and the settled verdicts refer. */
  readonly fingerprints: readonly Fingerprint[];
  /** The canary checks that the guards have passed; absent if they were not checked. */
  readonly canaries?: readonly CanaryCheck[];
  /**
   * Excerpts for the outcomes of a run with content, in the order of the items. Null for a settled item, which has its
   * own, and if there is no excerpt.
   */
  readonly snippets?: readonly (Snippet | null)[];
}

/** Collects the fingerprints of the settled verdicts among the items, by id. */
export function collectReusedFingerprints(items: readonly Item[]): Map<string, Fingerprint> {
  const found = new Map<string, Fingerprint>();
  for (const item of items) {
    if (hasReusedVerdict(item)) found.set(item.settled.fingerprint.id, item.settled.fingerprint);
  }
  return found;
}

/** Lists the judgement of each item, in order; null for an item with an error. */
export function listJudgements({ shard, outcomes }: ShardResult): (Judgement | null)[] {
  return shard.items.map(({ settled }, at) => (settled ?? outcomes[at])?.judgement ?? null);
}

/** Lists the error of each item, in order; null for an item with a verdict. */
export function listErrors({ shard, outcomes }: ShardResult): (ItemError | null)[] {
  return shard.items.map(({ settled }, at) =>
    settled === null ? (outcomes[at]?.failure?.error ?? null) : settled.error,
  );
}
