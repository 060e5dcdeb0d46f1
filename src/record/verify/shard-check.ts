import type { RunRecord } from '../../config/run-config.ts';
import { Failure } from '../../domain/failure.ts';
import { itemsSha256OfLines } from '../../domain/items-hash.ts';
import type { CorpusAccounts } from '../corpus-accounts.ts';
import type { Chain } from '../log/chain.ts';
import type { CommittedShard } from '../outcomes/committed-lines.ts';
import { mayHoldContent } from '../outcomes/outcome-line.ts';
import { parseOutcomeLine } from '../outcomes/outcome-schema.ts';
import type { PlanOutline } from '../outcomes/plan-outline.ts';
import { rulingOn, Tally } from '../tally.ts';

interface ShardCheckInput {
  readonly record: RunRecord;
  readonly chain: Chain;
  readonly plan: PlanOutline;
}

/**
 * Makes a check of committed shards against all other data: the format of each line, its planned item and source, the
 * decisions, the models, the content that lines may hold, and the tally in the commit line. Failure('internal') names
 * the first mismatch.
 */
export function shardCheck({ record, chain, plan }: ShardCheckInput) {
  const { policy, output } = record.config;
  return (shard: CommittedShard, accounts: CorpusAccounts | null): void => {
    const lines = shard.lines(parseOutcomeLine);
    if (!plan.wasFed(shard.planned, itemsSha256OfLines(lines))) {
      throw shard.fault('are of other items than were planned');
    }
    const tally = new Tally();
    for (const line of lines) {
      if (line.run !== record.run) throw broken(`the outcome of item ${line.seq} belongs to another run`);
      accounts?.check(line);
      const ruling = rulingOn(policy, line);
      if (ruling === null) {
        throw broken(`the decision on item ${line.seq} is not the one the run's policy gives`);
      }
      if (line.fingerprint !== null && !chain.fingerprints.has(line.fingerprint)) {
        throw broken(`the fingerprint of item ${line.seq} is not in the log`);
      }
      if (line.snippet !== null && !(output.includeContent && mayHoldContent(policy, line))) {
        throw broken(`the outcome of item ${line.seq} holds content that it must not hold`);
      }
      tally.add(line, ruling);
    }
    if (!chain.commits.holdsTally(shard.planned.shard, tally.shardTally())) {
      throw shard.fault('do not add up to the tally in their commit');
    }
  };
}

function broken(what: string): Failure {
  return new Failure('internal', what);
}
