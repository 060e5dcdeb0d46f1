import { type Fingerprint } from '../domain/fingerprint.ts';
import { type JudgedItem } from '../domain/item.ts';
import { type Outcome } from '../domain/outcome.ts';
import { type GuardRequest } from '../domain/request.ts';
import { type Shard, type ShardResult } from '../domain/shard.ts';

/** What judging needs of the guards. */
export interface Judge {
  /** Outcome i belongs to request i. Rejects only when no guard can be had, or on abort. */
  judge(
    requests: readonly GuardRequest[],
    options: { readonly session: string; readonly signal: AbortSignal },
  ): Promise<readonly Outcome[]>;
  /** In full, every fingerprint an outcome may name. */
  readonly fingerprints: ReadonlyMap<string, Fingerprint>;
}

/**
 * Takes a shard through the guards: one outcome an item, in the order of the items. Items that were settled when
 * they were read pass through. `session` begins the name of every cache session of the shard's conversations.
 */
export async function moderateShard(
  shard: Shard,
  judge: Judge,
  options: { readonly session: string; readonly signal: AbortSignal },
): Promise<ShardResult> {
  const judged = shard.items.filter((item): item is JudgedItem => item.error === null);
  const answers =
    judged.length === 0
      ? []
      : await judge.judge(
          judged.map((item) => item.request as GuardRequest),
          options,
        );
  if (answers.length !== judged.length) {
    throw new Error(`${judged.length} requests were answered by ${answers.length} outcomes`);
  }
  let next = 0;
  const outcomes = shard.items.map((item) => (item.error === null ? answers[next++]! : null));
  return { shard, outcomes, fingerprints: fingerprintsOf(answers, judge.fingerprints) };
}

function fingerprintsOf(
  outcomes: readonly Outcome[],
  known: ReadonlyMap<string, Fingerprint>,
): readonly Fingerprint[] {
  const named = new Map<string, Fingerprint>();
  for (const { judgement } of outcomes) {
    const id = judgement?.fingerprint;
    if (id === undefined || id === null || named.has(id)) continue;
    const fingerprint = known.get(id);
    if (fingerprint === undefined) throw new Error(`fingerprint ${id} was stamped but never read`);
    named.set(id, fingerprint);
  }
  return [...named.values()];
}
